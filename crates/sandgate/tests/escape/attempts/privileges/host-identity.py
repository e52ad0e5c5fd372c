# tries: find that one's user is a real user of the host, or even its root
# layer: user
# control: escapes
# blocked: mapped
def identity():
    with open("/proc/self/uid_map") as table:
        for line in table:
            inside, outside, _ = (int(word) for word in line.split())
            if outside == 0 or inside == outside:
                return f"user {inside} is user {outside} of the host"
    raise Blocked("mapped")


attempt(identity)
