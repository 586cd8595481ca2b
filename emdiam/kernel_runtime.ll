; Replaces numba's runtime for the memory of arrays that a kernel makes: reference count, an unused field, destructor of
; the items, data, size, whether the data are allocated separately. Also replaces functions of its library: splitting
; floats, and reshaping contiguous arrays (in C order) without a copy.
declare ptr @malloc(i64)
declare void @free(ptr)
define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %wide = zext i32 %align to i64
  %more = add i64 %size, %wide
  %all = add i64 %more, 48
  %mine = call ptr @malloc(i64 %all)
  %none = icmp eq ptr %mine, null
  br i1 %none, label %end, label %fill
fill:
  call void @llvm.memset.p0.i64(ptr %mine, i8 0, i64 48, i1 false)
  store i64 1, ptr %mine
  %data = getelementptr i8, ptr %mine, i64 48
  %address = ptrtoint ptr %data to i64
  %beyond = add i64 %address, %wide
  %last = sub i64 %beyond, 1
  %mask = sub i64 0, %wide
  %aligned = and i64 %last, %mask
  %place = getelementptr i8, ptr %mine, i64 24
  store i64 %aligned, ptr %place
  br label %end
end:
  ret ptr %mine
}
define ptr @NRT_MemInfo_new_varsize_dtor(i64 %size, ptr %end_items) {
  %mine = call ptr @malloc(i64 48)
  %data = call ptr @malloc(i64 %size)
  %none = icmp eq ptr %mine, null
  %nothing = icmp eq ptr %data, null
  %fails = or i1 %none, %nothing
  br i1 %fails, label %undo, label %fill
undo:
  call void @free(ptr %mine)
  call void @free(ptr %data)
  ret ptr null
fill:
  store i64 1, ptr %mine
  %end_at = getelementptr i8, ptr %mine, i64 16
  store ptr %end_items, ptr %end_at
  %place = getelementptr i8, ptr %mine, i64 24
  store ptr %data, ptr %place
  %apart = getelementptr i8, ptr %mine, i64 40
  store i64 1, ptr %apart
  ret ptr %mine
}
define void @NRT_MemInfo_call_dtor(ptr %mine) {
  %place = getelementptr i8, ptr %mine, i64 24
  %data = load ptr, ptr %place
  %end_at = getelementptr i8, ptr %mine, i64 16
  %end_items = load ptr, ptr %end_at
  %plain = icmp eq ptr %end_items, null
  br i1 %plain, label %data_too, label %items
items:
  call void %end_items(ptr %data)
  br label %data_too
data_too:
  %apart_at = getelementptr i8, ptr %mine, i64 40
  %apart = load i64, ptr %apart_at
  %within = icmp eq i64 %apart, 0
  br i1 %within, label %end, label %free_data
free_data:
  call void @free(ptr %data)
  br label %end
end:
  call void @free(ptr %mine)
  ret void
}
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
declare double @ldexp(double, i32)
declare double @frexp(double, ptr)
define double @numba_ldexp(double %number, i32 %power) {
  %scaled = call double @ldexp(double %number, i32 %power)
  ret double %scaled
}
define double @numba_frexp(double %number, ptr %power) {
  %nothing = fsub double %number, %number
  %finite = fcmp oeq double %nothing, 0.0
  br i1 %finite, label %split, label %keep
split:
  %part = call double @frexp(double %number, ptr %power)
  ret double %part
keep:
  store i32 0, ptr %power
  ret double %number
}
define i64 @stride_product(i64 %n, ptr %sizes, ptr %strides, i64 %item, i1 %write) {
  br label %next
next:
  %i = phi i64 [ %n, %0 ], [ %at, %go_on ]
  %stride = phi i64 [ %item, %0 ], [ %larger, %go_on ]
  %over = icmp eq i64 %i, 0
  br i1 %over, label %end, label %look
look:
  %at = sub i64 %i, 1
  %size_at = getelementptr i64, ptr %sizes, i64 %at
  %size = load i64, ptr %size_at
  %larger = mul i64 %stride, %size
  %stride_at = getelementptr i64, ptr %strides, i64 %at
  br i1 %write, label %put, label %compare
put:
  store i64 %stride, ptr %stride_at
  br label %go_on
compare:
  %found = load i64, ptr %stride_at
  %equal = icmp eq i64 %found, %stride
  %single = icmp eq i64 %size, 1
  %contiguous = or i1 %equal, %single
  br i1 %contiguous, label %go_on, label %fail
go_on:
  br label %next
fail:
  ret i64 -1
end:
  ret i64 %stride
}
define i32 @numba_attempt_nocopy_reshape(i64 %n, ptr %sizes, ptr %strides, i64 %new_n, ptr %new_sizes, ptr %new_strides,
    i64 %item, i32 %fortran) {
  %bytes = call i64 @stride_product(i64 %n, ptr %sizes, ptr %strides, i64 %item, i1 false)
  %new_bytes = call i64 @stride_product(i64 %new_n, ptr %new_sizes, ptr %new_strides, i64 %item, i1 true)
  %whole = icmp sgt i64 %bytes, 0
  %empty = icmp eq i64 %new_bytes, 0
  %either = or i1 %whole, %empty
  %can = zext i1 %either to i32
  ret i32 %can
}
