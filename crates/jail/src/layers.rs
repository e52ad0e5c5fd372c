//! Which walls stand. All of them, except in the test that takes each away once to see it missed.

/// Layers that a process puts on itself when it enters a sandbox.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layers {
    pub seccomp: bool,
    pub landlock: bool,
    pub capabilities: bool,
    pub no_new_privileges: bool,
    pub resource_limits: bool,
    pub close_descriptors: bool,
    /// Masks over `/proc`; put on by the sandbox's own PID 1.
    pub proc_masks: bool,
    /// A network namespace of its own; made with the sandbox.
    pub network: bool,
    /// An inter-process communication namespace of its own; made with the sandbox.
    pub ipc: bool,
    /// A host name of its own; made with the sandbox.
    pub hostname: bool,
}

impl Layers {
    pub const ALL: Self = Self {
        seccomp: true,
        landlock: true,
        capabilities: true,
        no_new_privileges: true,
        resource_limits: true,
        close_descriptors: true,
        proc_masks: true,
        network: true,
        ipc: true,
        hostname: true,
    };

    /// One bit each, for the wire between the engine and its helpers.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.flags().iter().enumerate().fold(0, |bits, (at, on)| bits | (u32::from(*on) << at))
    }

    #[must_use]
    pub fn from_bits(bits: u32) -> Self {
        let on = |at: u32| bits & (1 << at) != 0;
        Self {
            seccomp: on(0),
            landlock: on(1),
            capabilities: on(2),
            no_new_privileges: on(3),
            resource_limits: on(4),
            close_descriptors: on(5),
            proc_masks: on(6),
            network: on(7),
            ipc: on(8),
            hostname: on(9),
        }
    }

    fn flags(self) -> [bool; 10] {
        [
            self.seccomp,
            self.landlock,
            self.capabilities,
            self.no_new_privileges,
            self.resource_limits,
            self.close_descriptors,
            self.proc_masks,
            self.network,
            self.ipc,
            self.hostname,
        ]
    }
}
