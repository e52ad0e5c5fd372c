# tries: give an allowed name the address of a forbidden host in a file of hosts
# control: blocked because /etc is read-only
# blocked: EROFS|EACCES|EPERM
def write():
    with open("/etc/hosts", "a") as file:
        file.write(f"{BAD} allowed.test\n")
    return "the file was changed"


attempt(write)
