from e2b_code_interpreter import Sandbox

with Sandbox.create() as sandbox:
    sandbox.files.write("/home/user/data/data.csv", "a,b\n1,2\n")
    total = sandbox.run_code("import pandas\npandas.read_csv('data/data.csv').to_numpy().sum().item()").text
    print(sandbox.files.read("/home/user/data/data.csv"), total)
    print([entry.name for entry in sandbox.files.list("/home/user/data")])
