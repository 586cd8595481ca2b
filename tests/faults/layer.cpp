// Files that fail: loaded before the C library (LD_PRELOAD), so that whatever a process calls for files below one
// folder, from Python, numpy, pyarrow or Rust, goes through here.
//
// A plan is "KIND AT SPAN FOLDER": calls of the kind below the folder are counted from 1, and those from AT on, SPAN of
// them (0: all), meet the fault. Without a plan calls are handed on and, under "count", counted. With "record", AT is an
// open descriptor, to which every change of files and names is written (see power.py).
#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <dlfcn.h>
#include <fcntl.h>
#include <mutex>
#include <string>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

namespace {

enum Kind { NONE, EIO_READ, EIO_WRITE, EIO_SYNC, SHORT_READ, SHORT_WRITE, FULL, INTERRUPTED, SLOW, FILES, CLOCK, COUNT, RECORD };
const char* const NAMES[] = {"none", "eio-read", "eio-write", "eio-sync", "short-read", "short-write", "full", "eintr",
                             "slow", "files", "clock", "count", "record"};
enum Call { READ, WRITE, SYNC, OPEN, CHANGE };  // CHANGE: of a name

Kind kind = NONE;
long at = 0, span = 0, seen[5];
char folder[PATH_MAX];
std::mutex recording;

template <typename F> F next(const char* name) { return reinterpret_cast<F>(dlsym(RTLD_NEXT, name)); }
#define NEXT(name) static const auto real = next<decltype(&name)>(#name)

// The folder itself, or what is in it.
bool below(const char* path) {
    size_t size = std::strlen(folder);
    return size && !std::strncmp(path, folder, size) && (!path[size] || path[size] == '/');
}

bool concerns(int file) {
    if (kind == NONE || kind == CLOCK) return false;
    int saved = errno;
    char link[40], path[PATH_MAX];
    std::snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t size = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (size < 0) return false;
    path[size] = 0;
    return below(path);
}

std::string absolute(int base, const char* path) {
    if (*path == '/') return path;
    char link[40], start[PATH_MAX];
    ssize_t size;
    if (base == AT_FDCWD) {
        size = getcwd(start, sizeof start) ? std::strlen(start) : 0;
    } else {
        std::snprintf(link, sizeof link, "/proc/self/fd/%d", base);
        size = readlink(link, start, sizeof start);
    }
    return size <= 0 ? path : std::string(start, size) + "/" + path;
}

// Whether this call, one that the kind of fault counts, meets the fault.
bool hit(Call call) {
    long number = __atomic_add_fetch(&seen[call], 1, __ATOMIC_SEQ_CST);
    return number >= at && (span == 0 || number < at + span);
}

bool fails(Kind wanted, Call call, int error) {
    if (kind != wanted || !hit(call)) return false;
    errno = error;
    return true;
}

void pause_a_little() {
    struct timespec moment = {0, 300000};
    nanosleep(&moment, nullptr);
}

// -1: the call fails; else bytes that it may take at most.
ssize_t reads(int file, size_t size) {
    if (!concerns(file)) return size;
    if (kind == COUNT) hit(READ);
    if (fails(EIO_READ, READ, EIO) || fails(INTERRUPTED, READ, EINTR)) return -1;
    if (kind == SLOW && hit(READ)) pause_a_little();
    if (kind == SHORT_READ && size > 1 && hit(READ)) return 1 + (size - 1) * (seen[READ] % 7) / 7;
    return size;
}

ssize_t writes(int file, size_t size) {
    if (!concerns(file)) return size;
    if (kind == COUNT) hit(WRITE);
    if (fails(EIO_WRITE, WRITE, EIO) || fails(INTERRUPTED, WRITE, EINTR)) return -1;
    if (kind == SLOW && hit(WRITE)) pause_a_little();
    if (kind == SHORT_WRITE && size > 1 && hit(WRITE)) return 1 + (size - 1) * (seen[WRITE] % 7) / 7;
    if (kind == FULL && hit(WRITE)) {  // what is left of the disk, then nothing
        if (seen[WRITE] == at && size > 1) return size / 2;
        errno = ENOSPC;
        return -1;
    }
    return size;
}

bool sync_fails(int file) {
    if (!concerns(file)) return false;
    if (kind == COUNT) hit(SYNC);
    return fails(EIO_SYNC, SYNC, EIO) || fails(INTERRUPTED, SYNC, EINTR);
}

// Names that are made, changed or removed; a full disk has no room for new ones.
bool change_fails(int base, const char* path, bool takes_room = false) {
    if (kind == NONE || kind == CLOCK || !below(absolute(base, path).c_str())) return false;
    if (kind == FULL && takes_room && seen[WRITE] >= at) {
        errno = ENOSPC;
        return true;
    }
    return false;
}

size_t total(const struct iovec* parts, int count) {
    size_t size = 0;
    for (int i = 0; i < count; i++) size += parts[i].iov_len;
    return size;
}

// -- the record of changes: op, two numbers, two texts, and data -----------------------------------------------------
void note(char op, uint64_t a, uint64_t b, const std::string& one = "", const std::string& two = "",
          const void* data = nullptr, size_t size = 0) {
    static const auto real = next<decltype(&write)>("write");
    uint64_t head[6] = {static_cast<uint64_t>(op), a, b, one.size(), two.size(), size};
    std::string record(reinterpret_cast<char*>(head), sizeof head);
    record += one + two;
    record.append(static_cast<const char*>(data), size);
    for (size_t done = 0; done < record.size();) {
        ssize_t part = real(static_cast<int>(at), record.data() + done, record.size() - done);
        if (part < 0) std::abort();
        done += part;
    }
}

uint64_t number_of(int file) {
    struct stat facts;
    return fstat(file, &facts) ? 0 : facts.st_ino;
}

uint64_t folder_of(const std::string& path) {
    struct stat facts;
    return stat(path.substr(0, path.rfind('/')).c_str(), &facts) ? 0 : facts.st_ino;
}

std::string name_of(const std::string& path) { return path.substr(path.rfind('/') + 1); }

void note_write(int file, int64_t where, const void* data, size_t size) { note('W', number_of(file), where, "", "", data, size); }

int64_t position(int file) {
    int flags = fcntl(file, F_GETFL);
    struct stat facts;
    return flags & O_APPEND ? (fstat(file, &facts), facts.st_size) : lseek(file, 0, SEEK_CUR);
}

// A call that changes names, with a note of it where it went well. made : a name is new; of a folder.
template <typename F> int noted(int base, const char* path, char op, F call) {
    std::string whole = kind == RECORD ? absolute(base, path) : "";
    if (kind != RECORD || !below(whole.c_str())) return call();
    std::lock_guard<std::mutex> lock(recording);
    uint64_t parent = folder_of(whole);
    int done = call(), saved = errno;
    struct stat facts;
    if (done == 0) note(op, parent, op == 'D' && !stat(whole.c_str(), &facts) ? facts.st_ino : 0, name_of(whole));
    errno = saved;
    return done;
}

int opened(int base, const char* path, int flags, mode_t mode) {
    static const auto real = next<int (*)(int, const char*, int, ...)>("openat");
    if (kind == NONE || kind == CLOCK) return real(base, path, flags, mode);
    std::string whole = absolute(base, path);
    if (!below(whole.c_str())) return real(base, path, flags, mode);
    if (kind == COUNT) hit(OPEN);
    if (fails(FILES, OPEN, EMFILE) || fails(INTERRUPTED, OPEN, EINTR)) return -1;
    if (kind == FULL && flags & O_CREAT && seen[WRITE] >= at && access(whole.c_str(), F_OK)) {
        errno = ENOSPC;
        return -1;
    }
    if (kind != RECORD) return real(base, path, flags, mode);
    std::lock_guard<std::mutex> lock(recording);
    struct stat facts;
    bool nameless = (flags & O_TMPFILE) == O_TMPFILE, was = !nameless && !lstat(whole.c_str(), &facts);
    int file = real(base, path, flags, mode);
    if (file >= 0 && !nameless && flags & O_CREAT && !was) note('N', folder_of(whole), number_of(file), name_of(whole));
    if (file >= 0 && !nameless && flags & O_TRUNC && was) note('T', number_of(file), 0);
    return file;
}

int renamed(int from_base, const char* from, int to_base, const char* to, unsigned flags) {
    static const auto real = next<int (*)(int, const char*, int, const char*, unsigned)>("renameat2");
    if (change_fails(to_base, to)) return -1;
    std::string one = absolute(from_base, from), two = absolute(to_base, to);
    if (kind != RECORD || !below(two.c_str())) return real(from_base, from, to_base, to, flags);
    std::lock_guard<std::mutex> lock(recording);
    uint64_t before = folder_of(one), after = folder_of(two);
    int done = real(from_base, from, to_base, to, flags);
    if (done == 0) note('R', before, after, name_of(one), name_of(two));
    return done;
}

template <typename F> int synced(int file, F real) {
    if (sync_fails(file)) return -1;
    if (kind != RECORD || !concerns(file)) return real(file);
    std::lock_guard<std::mutex> lock(recording);
    note('S', number_of(file), 0);
    return real(file);
}

template <typename F> ssize_t written(int file, int64_t where, const void* data, size_t size, F call) {
    ssize_t most = writes(file, size);
    if (most < 0) return -1;
    if (kind != RECORD || !concerns(file)) return call(most);
    std::lock_guard<std::mutex> lock(recording);
    int64_t begin = where < 0 ? position(file) : where;
    ssize_t done = call(most);
    if (done > 0) note_write(file, begin, data, done);
    return done;
}

template <typename F> ssize_t gathered(int file, int64_t where, const struct iovec* parts, int count, F call) {
    size_t size = total(parts, count);
    ssize_t most = writes(file, size);
    if (most < 0) return -1;
    bool record = kind == RECORD && concerns(file);
    if (!record && static_cast<size_t>(most) == size) return call(parts, count);
    std::string whole;
    for (int i = 0; i < count; i++) whole.append(static_cast<const char*>(parts[i].iov_base), parts[i].iov_len);
    struct iovec one = {whole.data(), static_cast<size_t>(most)};
    if (!record) return call(&one, 1);
    std::lock_guard<std::mutex> lock(recording);
    int64_t begin = where < 0 ? position(file) : where;
    ssize_t done = call(&one, 1);
    if (done > 0) note_write(file, begin, whole.data(), done);
    return done;
}

// The first `most` bytes of the parts, in at most one part: a call may return fewer than it was asked for.
template <typename F> ssize_t scattered(int file, const struct iovec* parts, int count, F call) {
    size_t size = total(parts, count);
    ssize_t most = reads(file, size);
    if (most < 0) return -1;
    if (static_cast<size_t>(most) == size) return call(parts, count);
    struct iovec one = {parts[0].iov_base, std::min(parts[0].iov_len, static_cast<size_t>(most))};
    return call(&one, 1);
}

}  // namespace

extern "C" {

// See above; "none" ends a plan. Returns whether it is one.
int fault_plan(const char* text) {
    char word[20], where[PATH_MAX] = "";
    kind = NONE;
    std::memset(seen, 0, sizeof seen);
    if (std::sscanf(text, "%19s %ld %ld %4095[^\n]", word, &at, &span, where) < 1) return 0;
    std::strcpy(folder, where);
    for (int i = 0; i <= RECORD; i++)
        if (!std::strcmp(word, NAMES[i])) {
            kind = static_cast<Kind>(i);
            return 1;
        }
    return 0;
}

// Calls that were counted: 0 reads, 1 writes, 2 syncs, 3 files opened.
long fault_seen(int call) { return seen[call]; }

__attribute__((constructor)) static void begin() {
    const char* text = std::getenv("EMDIAM_FAULT_PLAN");
    if (text) fault_plan(text);
}

ssize_t read(int file, void* data, size_t size) {
    NEXT(read);
    ssize_t most = reads(file, size);
    return most < 0 ? -1 : real(file, data, most);
}
ssize_t pread(int file, void* data, size_t size, off_t where) {
    NEXT(pread);
    ssize_t most = reads(file, size);
    return most < 0 ? -1 : real(file, data, most, where);
}
ssize_t pread64(int file, void* data, size_t size, off64_t where) {
    NEXT(pread64);
    ssize_t most = reads(file, size);
    return most < 0 ? -1 : real(file, data, most, where);
}
#define READV(name, type)                                                                                             \
    ssize_t name(int file, const struct iovec* parts, int count, type where) {                                        \
        NEXT(name);                                                                                                   \
        return scattered(file, parts, count, [&](const struct iovec* p, int n) { return real(file, p, n, where); });  \
    }
READV(preadv, off_t)
READV(preadv64, off64_t)
#define READV2(name, type)                                                                                            \
    ssize_t name(int file, const struct iovec* parts, int count, type where, int flags) {                             \
        NEXT(name);                                                                                                   \
        return scattered(file, parts, count,                                                                          \
                         [&](const struct iovec* p, int n) { return real(file, p, n, where, flags); });               \
    }
READV2(preadv2, off_t)
READV2(preadv64v2, off64_t)
ssize_t readv(int file, const struct iovec* parts, int count) {
    NEXT(readv);
    return scattered(file, parts, count, [&](const struct iovec* p, int n) { return real(file, p, n); });
}
ssize_t write(int file, const void* data, size_t size) {
    NEXT(write);
    return written(file, -1, data, size, [&](size_t most) { return real(file, data, most); });
}
ssize_t pwrite(int file, const void* data, size_t size, off_t where) {
    NEXT(pwrite);
    return written(file, where, data, size, [&](size_t most) { return real(file, data, most, where); });
}
ssize_t pwrite64(int file, const void* data, size_t size, off64_t where) {
    NEXT(pwrite64);
    return written(file, where, data, size, [&](size_t most) { return real(file, data, most, where); });
}
ssize_t writev(int file, const struct iovec* parts, int count) {
    NEXT(writev);
    return gathered(file, -1, parts, count, [&](const struct iovec* p, int n) { return real(file, p, n); });
}
#define WRITEV(name, type)                                                                                            \
    ssize_t name(int file, const struct iovec* parts, int count, type where) {                                        \
        NEXT(name);                                                                                                   \
        return gathered(file, where, parts, count,                                                                    \
                        [&](const struct iovec* p, int n) { return real(file, p, n, where); });                       \
    }
WRITEV(pwritev, off_t)
WRITEV(pwritev64, off64_t)
// The C library calls itself past this layer, so buffered streams (numpy's tofile, fromfile) are met here.
size_t fread(void* data, size_t size, size_t count, FILE* stream) {
    NEXT(fread);
    ssize_t most = size ? reads(fileno(stream), size * count) : 0;
    if (most < 0 && errno == EINTR) most = size * count;  // the library itself goes on
    return most < 0 ? 0 : real(data, size, count, stream);
}
size_t fwrite(const void* data, size_t size, size_t count, FILE* stream) {
    NEXT(fwrite);
    if (kind == NONE || !size || !concerns(fileno(stream))) return real(data, size, count, stream);
    if (kind == RECORD) {
        std::lock_guard<std::mutex> lock(recording);
        int64_t begin = ftell(stream);
        size_t done = real(data, size, count, stream);
        std::fflush(stream);
        note_write(fileno(stream), begin, data, done * size);
        return done;
    }
    ssize_t most = writes(fileno(stream), size * count);
    if (most >= 0 || errno == EINTR) return real(data, size, kind == FULL ? most / size : count, stream);
    return 0;
}
int fsync(int file) {
    NEXT(fsync);
    return synced(file, real);
}
int fdatasync(int file) {
    NEXT(fdatasync);
    return synced(file, real);
}
#define OPENING                                                                                                       \
    mode_t mode = 0;                                                                                                  \
    if (flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE) {                                                        \
        va_list more;                                                                                                 \
        va_start(more, flags);                                                                                        \
        mode = va_arg(more, mode_t);                                                                                  \
        va_end(more);                                                                                                 \
    }
int open(const char* path, int flags, ...) {
    OPENING
    return opened(AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
    OPENING
    return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode);
}
int openat(int base, const char* path, int flags, ...) {
    OPENING
    return opened(base, path, flags, mode);
}
int openat64(int base, const char* path, int flags, ...) {
    OPENING
    return opened(base, path, flags | O_LARGEFILE, mode);
}
int rename(const char* from, const char* to) { return renamed(AT_FDCWD, from, AT_FDCWD, to, 0); }
int renameat(int from_base, const char* from, int to_base, const char* to) { return renamed(from_base, from, to_base, to, 0); }
int renameat2(int from_base, const char* from, int to_base, const char* to, unsigned flags) { return renamed(from_base, from, to_base, to, flags); }
int unlink(const char* path) {
    NEXT(unlink);
    return noted(AT_FDCWD, path, 'U', [&] { return real(path); });
}
int unlinkat(int base, const char* path, int flags) {
    NEXT(unlinkat);
    return noted(base, path, 'U', [&] { return real(base, path, flags); });
}
int rmdir(const char* path) {
    NEXT(rmdir);
    return noted(AT_FDCWD, path, 'U', [&] { return real(path); });
}
int mkdir(const char* path, mode_t mode) {
    NEXT(mkdir);
    if (change_fails(AT_FDCWD, path, true)) return -1;
    return noted(AT_FDCWD, path, 'D', [&] { return real(path, mode); });
}
int mkdirat(int base, const char* path, mode_t mode) {
    NEXT(mkdirat);
    if (change_fails(base, path, true)) return -1;
    return noted(base, path, 'D', [&] { return real(base, path, mode); });
}
int ftruncate64(int file, off64_t size) {
    NEXT(ftruncate64);
    if (kind != RECORD || !concerns(file)) return real(file, size);
    std::lock_guard<std::mutex> lock(recording);
    int done = real(file, size);
    if (done == 0) note('T', number_of(file), size);
    return done;
}
int ftruncate(int file, off_t size) { return ftruncate64(file, size); }
// The clock of the day jumps, back and forth, by up to ten years; that of the process does not.
int clock_gettime(clockid_t clock, struct timespec* moment) {
    NEXT(clock_gettime);
    int done = real(clock, moment);
    if (kind == CLOCK && clock == CLOCK_REALTIME) {
        static const long steps[] = {0, -86400, 315360000, -315360000, 3600, -1, 7};
        moment->tv_sec += steps[__atomic_add_fetch(&seen[CHANGE], 1, __ATOMIC_SEQ_CST) % 7];
    }
    return done;
}
int gettimeofday(struct timeval* moment, void* zone) {
    struct timespec now;
    int done = clock_gettime(CLOCK_REALTIME, &now);
    if (zone) std::memset(zone, 0, sizeof(struct timezone));
    moment->tv_sec = now.tv_sec;
    moment->tv_usec = now.tv_nsec / 1000;
    return done;
}
time_t time(time_t* out) {
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (out) *out = now.tv_sec;
    return now.tv_sec;
}

}  // extern "C"
