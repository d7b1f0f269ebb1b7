//! What a program tries that must be refused: an attempt that works is a line of output,
//! and so is one that is refused in another way than the row says.
#![allow(dead_code)]

use std::{ffi::CString, fs, io};

extern "C" {
    fn syscall(number: i64, ...) -> i64;
}

pub const DENIED: &[i32] = &[1, 38]; // EPERM, ENOSYS

/// A system call by its number: what it returns, and its error.
pub fn call(number: i64, args: &[i64]) -> (i64, i32) {
    let mut a = [0i64; 6];
    a[..args.len()].copy_from_slice(args);
    let value = unsafe { syscall(number, a[0], a[1], a[2], a[3], a[4], a[5]) };
    let error = if value == -1 { io::Error::last_os_error().raw_os_error().unwrap_or(0) } else { 0 };
    (value, error)
}

/// A system call that must fail with one of the errors.
pub fn refused(what: &str, errors: &[i32], number: i64, args: &[i64]) {
    let (value, error) = call(number, args);
    if !errors.contains(&error) {
        println!("{what}: returned {value}, error {error}");
    }
}

/// A result that must be a failure.
pub fn fails<T, E>(what: &str, result: Result<T, E>) {
    if result.is_ok() {
        println!("{what}: worked");
    }
}

/// Where a string of C lies; it never goes.
pub fn at(text: &str) -> i64 {
    CString::new(text).unwrap().into_raw() as i64
}

/// The ids of the processes that can be seen, but this one.
pub fn processes() -> Vec<u32> {
    fs::read_dir("/proc").into_iter().flatten().flatten()
        .filter_map(|e| e.file_name().to_str()?.parse().ok())
        .filter(|id| *id != std::process::id()).collect()
}

/// An address of IP as C has it.
pub fn sockaddr(to: std::net::SocketAddr) -> Vec<u8> {
    let port = to.port().to_be_bytes();
    match to.ip() {
        std::net::IpAddr::V4(ip) => [&2u16.to_ne_bytes()[..], &port, &ip.octets(), &[0; 8]].concat(),
        std::net::IpAddr::V6(ip) => [&10u16.to_ne_bytes()[..], &port, &[0; 4], &ip.octets(), &[0; 4]].concat(),
    }
}

/// From the directory that the program is in.
pub const AT_FDCWD: i64 = -100;

/// Where numbers lie; they never go.
pub fn at_numbers(of: &[u64]) -> i64 {
    of.to_vec().leak().as_ptr() as i64
}
