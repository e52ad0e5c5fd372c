# tries: make a file among the installed Python packages, which every sandbox imports
# layer: mount
# also: user, landlock
# control: escapes
# blocked: EROFS|EACCES
import sysconfig

attempt(lambda: creatable(sysconfig.get_path("purelib")))
