"""Compiles the operators into the package before it is packed."""
import subprocess
import sys

from setuptools import setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py


class Build(build_py):
    def run(self):
        subprocess.run([sys.executable, "src/unit_rows/unit_rows_torch.py"], check=True)  # the backward kernel's, too
        super().run()


class Wheel(bdist_wheel):
    """One wheel serves every version of Python: the libraries use torch's stable ABI, and nothing of Python."""

    def finalize_options(self):
        super().finalize_options()
        self.root_is_pure = False

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(cmdclass={"build_py": Build, "bdist_wheel": Wheel})
