# tries: open the memory of the machine
# layer: mount
# also: user
# control: refused ENOENT because this kernel is built without /dev/mem
# blocked: ENOENT
attempt(lambda: openable("/dev/mem", os.O_RDONLY))
