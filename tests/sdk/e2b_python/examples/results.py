from e2b_code_interpreter import Sandbox

code = """
import matplotlib.pyplot as plt
plt.bar(['a', 'b'], [1, 2])
print('drawn')
plt.show()
"""
with Sandbox.create() as sandbox:
    print(sandbox.run_code(code).to_json())
