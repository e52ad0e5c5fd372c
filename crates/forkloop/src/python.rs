//! The three calls CPython wants around a fork made by foreign code.

use std::ffi::CStr;

use sandgate_jail::{Result, StepError, sys};

type Hook = unsafe extern "C" fn();

#[derive(Clone, Copy, Debug)]
pub(crate) struct ForkHooks {
    before: Hook,
    after_in_parent: Hook,
    after_in_child: Hook,
}

impl ForkHooks {
    /// Looks them up in the interpreter this library was loaded into.
    pub(crate) fn find() -> Result<Self> {
        Ok(Self {
            before: find(c"PyOS_BeforeFork")?,
            after_in_parent: find(c"PyOS_AfterFork_Parent")?,
            after_in_child: find(c"PyOS_AfterFork_Child")?,
        })
    }

    /// A fork through the C library, so that its own at-fork handlers run as well. The child must call
    /// [`Self::after_in_child`] before it goes back to Python.
    ///
    /// # Safety
    /// One thread, which holds the interpreter's lock.
    pub(crate) unsafe fn fork(&self) -> Result<sys::Forked> {
        // SAFETY: passed on to the caller.
        unsafe { (self.before)() };
        // SAFETY: passed on to the caller.
        let forked = unsafe { sys::fork() };
        if !matches!(forked, Ok(sys::Forked::Child)) {
            // SAFETY: pairs with `before`, also when the fork failed.
            unsafe { (self.after_in_parent)() };
        }
        forked
    }

    /// # Safety
    /// In the child of [`Self::fork`], once.
    pub(crate) unsafe fn after_in_child(&self) {
        // SAFETY: passed on to the caller.
        unsafe { (self.after_in_child)() };
    }
}

fn find(name: &CStr) -> Result<Hook> {
    // SAFETY: the name is a valid C string; the default handle searches what is loaded.
    let address = unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) };
    if address.is_null() {
        let text = format!("{} is not in this interpreter", name.to_string_lossy());
        return Err(StepError::new("finding fork hooks", std::io::Error::other(text)));
    }
    // SAFETY: CPython documents all three as `void f(void)`.
    Ok(unsafe { std::mem::transmute::<*mut libc::c_void, Hook>(address) })
}
