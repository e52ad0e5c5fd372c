# tries: find a secret of the server among one's own environment variables
# layer: environment
# control: escapes
# blocked: other-content|empty
attempt(lambda: secret_in(b"\0".join(os.environb.values()), "the environment"))
