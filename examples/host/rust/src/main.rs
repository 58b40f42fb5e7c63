//! Sums by kernels in C. What fcl.h and sums.h declare is repeated here as far as it is used.
use std::ffi::{c_char, c_void, CStr};
use std::ptr;

#[repr(C)]
struct Options {
    kind: i32,
    index: i32,
    profile: bool,
    no_disk_cache: bool,
    no_pool: bool,
    cache_directory: *const c_char,
    queue: *mut c_void,
    only_linked: bool,
}

const DEVICE_C: i32 = 4;

extern "C" {
    fn fcl_open(context: *mut *mut c_void, options: *const Options, why: *mut c_char, bytes: usize) -> i32;
    fn fcl_close(context: *mut c_void);
    fn fcl_error(context: *mut c_void) -> *const c_char;
    fn sums_total(context: *mut c_void, length: i32, numbers: *const i32, result: *mut i32) -> i32;
    fn sums_running_into(context: *mut c_void, length: i32, numbers: *const i32, room: *mut i32, sums: *mut i32) -> i32;
}

struct Sums(*mut c_void);

impl Sums {
    fn open() -> Result<Sums, String> {
        let options = Options {
            kind: DEVICE_C,
            index: 0,
            profile: false,
            no_disk_cache: false,
            no_pool: false,
            cache_directory: ptr::null(),
            queue: ptr::null_mut(),
            only_linked: false,
        };
        let (mut context, mut why) = (ptr::null_mut(), [0 as c_char; 1024]);
        match unsafe { fcl_open(&mut context, &options, why.as_mut_ptr(), why.len()) } {
            0 => Ok(Sums(context)),
            _ => Err(unsafe { CStr::from_ptr(why.as_ptr()) }.to_string_lossy().into()),
        }
    }

    fn good(&self, status: i32) -> Result<(), String> {
        match status {
            0 => Ok(()),
            _ => Err(unsafe { CStr::from_ptr(fcl_error(self.0)) }.to_string_lossy().into()),
        }
    }

    fn total(&mut self, numbers: &[i32]) -> Result<i32, String> {
        let mut result = 0;
        self.good(unsafe { sums_total(self.0, numbers.len() as i32, numbers.as_ptr(), &mut result) })?;
        Ok(result)
    }

    fn running(&mut self, numbers: &[i32]) -> Result<Vec<i32>, String> {
        let mut sums = vec![0; numbers.len()];
        let mut room = sums.len() as i32;
        let (from, to) = (numbers.as_ptr(), sums.as_mut_ptr());
        self.good(unsafe { sums_running_into(self.0, numbers.len() as i32, from, &mut room, to) })?;
        Ok(sums)
    }
}

impl Drop for Sums {
    fn drop(&mut self) {
        unsafe { fcl_close(self.0) }
    }
}

fn main() -> Result<(), String> {
    let mut sums = Sums::open()?;
    let numbers = [1, 2, 3, 4];
    let running: Vec<String> = sums.running(&numbers)?.iter().map(i32::to_string).collect();
    println!("{}: {}", sums.total(&numbers)?, running.join(" "));
    Ok(())
}
