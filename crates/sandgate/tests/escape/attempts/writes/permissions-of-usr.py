# tries: set the permissions of a program in /usr/bin (to what they are)
# layer: mount
# also: user
# control: escapes
# blocked: EROFS|EPERM
def set_mode():
    os.chmod("/usr/bin/env", os.stat("/usr/bin/env").st_mode & 0o7777)
    return "permissions can be set"


attempt(set_mode)
