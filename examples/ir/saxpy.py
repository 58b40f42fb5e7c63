"""What another compiler does to have its kernels compiled by fclc: writes their IR as text (docs/ir.md). Here it is
a small language of arithmetic on arrays, of which `a * x + y` is a program.

    python3 examples/ir/saxpy.py >saxpy.fclir
    build/fclc saxpy.fclir -o saxpy.cu      (or .cl, .c, .hip)
"""


class Kernel:
    """A kernel of scalars and arrays of floats, whose result is an array: one element is computed by one thread."""

    def __init__(self, name):
        self.name, self.lines, self.values = name, [], 0
        self.takes, self.buffers, self.parameters = [], [], []

    def scalar(self, name):
        self.parameters.append(f'scalar {len(self.takes)}.0 "{name}" = float %{name}')
        self.takes.append("float")
        return f"%{name}"

    def array(self, name):
        argument = len(self.takes)
        self.buffers.append(f"buffer @{name} input float")
        self.parameters.append(f'extent {argument}.0 "{name}_length" dimension 0 = int %{name}_length in 0..2147483647')
        self.parameters.append(f'array {argument}.0 "{name}" = @{name}')
        self.takes.append("[float]")
        return name

    def make(self, instruction):
        """A float, and the value that it is from then on."""
        self.values += 1
        self.lines.append(f"float %t{self.values} = {instruction}")
        return f"%t{self.values}"

    def element(self, array):
        return self.make(f"load @{array}[%i]")

    def text(self, x, y, result):
        """With as many elements as both arrays have, each of which is the value `result`."""
        head = [f"takes {type}" for type in self.takes] + ["gives [float]<grid>"]
        head += [*self.buffers, "buffer @out output float[%n]", *self.parameters]
        head += [f"int %n in 0..2147483647 = min %{x}_length, %{y}_length", "allocate @out"]
        loop = ["forall int %i in 0..2147483646 < %n at grid/thread {"]
        loop += ["  " + line for line in [*self.lines, f"store @out[%i], {result}"]] + ["}"]
        body = [*head, *loop, "return @out %n"]
        return "\n".join([f'kernel "{self.name}" {{', *("  " + line for line in body), "}"])


def saxpy():
    kernel = Kernel("saxpy")
    a, x, y = kernel.scalar("a"), kernel.array("x"), kernel.array("y")
    product = kernel.make(f"mul {a}, {kernel.element(x)}")
    return kernel.text(x, y, kernel.make(f"add {product}, {kernel.element(y)}"))


if __name__ == "__main__":
    print('fclir 1 from "saxpy.py"\n')
    print(saxpy())
