; Common code of all functions that Python calls, see kernel_code.py: words in capitals stand for numbers of its table.
@TABLE = global ptr null
declare i64 @PyTuple_Size(ptr)
declare ptr @PyTuple_GetItem(ptr, i64)
declare ptr @PyTuple_New(i64)
declare i32 @PyTuple_SetItem(ptr, i64, ptr)
declare i64 @PyLong_AsLongLong(ptr)
declare i64 @PyLong_AsUnsignedLongLong(ptr)
declare ptr @PyLong_FromLongLong(i64)
declare ptr @PyLong_FromUnsignedLongLong(i64)
declare ptr @PyFloat_FromDouble(double)
declare ptr @PyBool_FromLong(i64)
declare ptr @PyBytes_FromStringAndSize(ptr, i64)
declare ptr @PyObject_CallFunctionObjArgs(ptr, ...)
declare ptr @PyErr_Occurred()
declare void @PyErr_Clear()
declare void @Py_IncRef(ptr)
declare void @Py_DecRef(ptr)
declare ptr @PyEval_SaveThread()
declare void @PyEval_RestoreThread(ptr)
declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
define internal ptr @entry(i64 %slot) {
  %table = load ptr, ptr @TABLE
  %place = getelementptr ptr, ptr %table, i64 %slot
  %value = load ptr, ptr %place
  ret ptr %value
}
define internal ptr @new_entry(i64 %slot) {
  %value = call ptr @entry(i64 %slot)
  call void @Py_IncRef(ptr %value)
  ret ptr %value
}
define internal i1 @is(ptr %o, i64 %slot) {
  %place = getelementptr i8, ptr %o, i64 TYPE
  %type = load ptr, ptr %place
  %wanted = call ptr @entry(i64 %slot)
  %same = icmp eq ptr %type, %wanted
  ret i1 %same
}
define internal i1 @is_either(ptr %o, i64 %slot, i64 %other) {
  %one = call i1 @is(ptr %o, i64 %slot)
  %two = call i1 @is(ptr %o, i64 %other)
  %either = or i1 %one, %two
  ret i1 %either
}
define internal i1 @is_tuple(ptr %o, i64 %count) {
  %is = call i1 @is(ptr %o, i64 TUPLE)
  br i1 %is, label %yes, label %no
yes:
  %size = call i64 @PyTuple_Size(ptr %o)
  %same = icmp eq i64 %size, %count
  ret i1 %same
no:
  ret i1 false
}
define internal i1 @is_array(ptr %o, i64 %dtype, i32 %ndim, i32 %mask, i32 %flags) {
  %is = call i1 @is(ptr %o, i64 ARRAY)
  br i1 %is, label %yes, label %no
yes:
  %ndim_at = getelementptr i8, ptr %o, i64 NDIM
  %ndim_of = load i32, ptr %ndim_at
  %dtype_at = getelementptr i8, ptr %o, i64 DESCR
  %dtype_of = load ptr, ptr %dtype_at
  %flags_at = getelementptr i8, ptr %o, i64 FLAGS
  %all_flags = load i32, ptr %flags_at
  %flags_of = and i32 %all_flags, %mask
  %wanted = call ptr @entry(i64 %dtype)
  %one = icmp eq i32 %ndim, %ndim_of
  %kinds_at = getelementptr i8, ptr %dtype_of, i64 KINDS
  %kinds = load i64, ptr %kinds_at
  %wanted_at = getelementptr i8, ptr %wanted, i64 KINDS
  %wanted_kinds = load i64, ptr %wanted_at
  %differ = xor i64 %kinds, %wanted_kinds
  %differ_more = and i64 %differ, UNFLAGGED
  %two = icmp eq i64 %differ_more, 0
  %three = icmp eq i32 %flags, %flags_of
  %both = and i1 %one, %two
  %same = and i1 %both, %three
  ret i1 %same
no:
  ret i1 false
}
define internal i1 @as_numpy(ptr %o, ptr %out, i64 %bytes, i64 %slot) {
  %is = call i1 @is(ptr %o, i64 %slot)
  br i1 %is, label %read, label %no
read:
  %place = getelementptr i8, ptr %o, i64 HEAD
  call void @llvm.memcpy.p0.p0.i64(ptr %out, ptr %place, i64 %bytes, i1 false)
  ret i1 true
no:
  ret i1 false
}
define internal i1 @as_int64(ptr %o, ptr %out) {
  %python = call i1 @is(ptr %o, i64 INT)
  br i1 %python, label %long, label %numpy
long:
  %value = call i64 @PyLong_AsLongLong(ptr %o)
  store i64 %value, ptr %out
  %perhaps = icmp eq i64 %value, -1
  br i1 %perhaps, label %ask, label %yes
ask:
  %error = call ptr @PyErr_Occurred()
  %fits = icmp eq ptr %error, null
  br i1 %fits, label %yes, label %clear
clear:
  call void @PyErr_Clear()
  ret i1 false
numpy:
  %found = call i1 @as_numpy(ptr %o, ptr %out, i64 8, i64 NPINT)
  ret i1 %found
yes:
  ret i1 true
}
define internal i1 @as_uint64(ptr %o, ptr %out) {
  %python = call i1 @is(ptr %o, i64 INT)
  br i1 %python, label %long, label %numpy
long:
  %value = call i64 @PyLong_AsUnsignedLongLong(ptr %o)
  store i64 %value, ptr %out
  %error = call ptr @PyErr_Occurred()
  call void @PyErr_Clear()
  %fits = icmp eq ptr %error, null
  %large = icmp slt i64 %value, 0
  %same = and i1 %fits, %large
  ret i1 %same
numpy:
  %found = call i1 @as_numpy(ptr %o, ptr %out, i64 8, i64 NPUINT)
  ret i1 %found
}
define internal i1 @as_bool(ptr %o, ptr %out) {
  %python = call i1 @is(ptr %o, i64 BOOL)
  br i1 %python, label %truth, label %numpy
truth:
  %true = call ptr @entry(i64 TRUE)
  %is_true = icmp eq ptr %o, %true
  %byte = zext i1 %is_true to i8
  store i8 %byte, ptr %out
  ret i1 true
numpy:
  %found = call i1 @as_numpy(ptr %o, ptr %out, i64 1, i64 NPBOOL)
  ret i1 %found
}
define internal ptr @fail(ptr %info) {
  %unknown = icmp eq ptr %info, null
  br i1 %unknown, label %call, label %read
read:
  %data = load ptr, ptr %info
  %size_at = getelementptr i8, ptr %info, i64 8
  %size = load i32, ptr %size_at
  %wide = sext i32 %size to i64
  br label %call
call:
  %bytes_at = phi ptr [ null, %0 ], [ %data, %read ]
  %n_bytes = phi i64 [ 0, %0 ], [ %wide, %read ]
  %bytes = call ptr @PyBytes_FromStringAndSize(ptr %bytes_at, i64 %n_bytes)
  %raise = call ptr @entry(i64 FAIL)
  %nothing = call ptr (ptr, ...) @PyObject_CallFunctionObjArgs(ptr %raise, ptr %bytes, ptr null)
  call void @Py_DecRef(ptr %bytes)
  ret ptr %nothing
}
