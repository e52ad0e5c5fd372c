# tries: open the setting that says who dies first when memory runs out, for writing
# layer: landlock
# control: escapes
# blocked: EACCES
attempt(lambda: openable("/proc/self/oom_score_adj", os.O_WRONLY))
