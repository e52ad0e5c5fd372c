"""The Python side of a Sandgate sandbox: a warm process that forks kernels, and the kernel that runs cells."""
