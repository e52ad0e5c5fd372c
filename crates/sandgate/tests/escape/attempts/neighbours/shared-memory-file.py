# tries: find shared memory of others in /dev/shm
# layer: mount
# control: escapes
# blocked: ENOENT
attempt(lambda: f"{os.stat('/dev/shm/{{SHM_NAME}}').st_size} bytes are there")
