"""Projects outside the tree use kgen as the documentation says: an install tree that has been moved, FetchContent, Ninja and
Makefiles, cross-compiling, committed files without kgen. Usage: consumer_test.py BUILD_DIR SOURCE_DIR"""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

SOURCE = pathlib.Path(sys.argv.pop(2)).resolve()
BUILD = pathlib.Path(sys.argv.pop(1)).resolve()
PRODUCT = SOURCE / "tests/consumer/product"
GENERATORS = ("Ninja", "Unix Makefiles")


def run(*command, code=0, cwd=None, path=None):
    environment = {**os.environ, **({"PATH": path} if path else {})}
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, cwd=cwd, env=environment)
    if (done.returncode != 0) != (code != 0):
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done.stdout + done.stderr


def later(path):
    """An edit that every build tool notices, whatever the grain of its clock."""
    time.sleep(1.1)
    os.utime(path)


class Consumer(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="kgen_consumer_")
        cls.addClassCleanup(cls.temporary.cleanup)
        root = pathlib.Path(cls.temporary.name)
        run("cmake", "--install", BUILD, "--prefix", root / "first")
        (root / "first").rename(root / "moved here")  # relocatable, and a path with a blank
        cls.install = root / "moved here"

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=self.temporary.name))
        self.product = self.folder / "product"
        shutil.copytree(PRODUCT, self.product)
        self.build = self.folder / "build"

    def configure(self, *arguments, generator="Ninja", code=0, prefix=True):
        found = [f"-DCMAKE_PREFIX_PATH={self.install}"] if prefix else []
        return run("cmake", "-S", self.product, "-B", self.build, "-G", generator, "-DTYPE=STATIC", *found, *arguments,
                   code=code)

    def make(self):
        return run("cmake", "--build", self.build, "--verbose")

    def app(self):
        self.assertEqual(run(self.build / "app"), "12 30\n")

    def test_an_installed_kgen_builds_quietly(self):
        for generator in GENERATORS:
            with self.subTest(generator=generator):
                shutil.rmtree(self.build, ignore_errors=True)
                self.configure(generator=generator)
                self.assertIn("scale_openmp.cpp.o -c", self.make())
                self.app()
                again = self.make()
                self.assertNotIn("kgen generate", again)
                self.assertNotIn("_openmp.cpp.o -c", again)

    def test_only_what_changed_is_compiled(self):
        for generator in GENERATORS:
            with self.subTest(generator=generator):
                shutil.rmtree(self.build, ignore_errors=True)
                self.configure(generator=generator)
                self.make()
                functions = self.product / "specs/twice.h"
                functions.write_text("// the same\n" + functions.read_text())
                later(functions)
                built = self.make()  # found through the depfile
                self.assertRegex(built, r"kgen['\"]? generate")
                self.assertNotIn("-c ", built)
                self.assertNotRegex(self.make(), r"kgen['\"]? generate")
                spec = self.product / "specs/rowsum.toml"
                spec.write_text(spec.read_text().replace("sum(x, N)", "sum(x, N) + 0 * size(N)"))
                later(spec)
                built = self.make()
                self.assertIn("rowsum_openmp.cpp.o -c", built)
                self.assertNotIn("scale_openmp.cpp.o -c", built)
                self.app()
                shutil.copy(PRODUCT / "specs/rowsum.toml", spec)

    def test_a_renamed_kernel_is_noticed(self):
        self.configure()
        self.make()
        spec = self.product / "specs/rowsum.toml"
        spec.write_text(spec.read_text().replace('kernel = "rowsum"', 'kernel = "sums"'))
        later(spec)
        main = self.product / "src/main.cpp"
        main.write_text(main.read_text().replace("rowsum", "sums"))
        self.make()
        self.app()
        self.assertFalse((self.build / "kernels_kgen/rowsum.h").exists())

    def test_shared_and_object_libraries_and_prefixes(self):
        for kind in ("SHARED", "OBJECT"):
            shutil.rmtree(self.build, ignore_errors=True)
            self.configure(f"-DTYPE={kind}")
            self.make()
            self.app()
        main = self.product / "src/main.cpp"
        main.write_text(main.read_text().replace('"rowsum.h"', '"acme/rowsum.h"').replace('"scale.h"', '"acme/scale.h"'))
        shutil.rmtree(self.build)
        self.configure("-DMORE=INCLUDE_PREFIX;acme;OUTPUT_DIR;made")
        self.make()
        self.app()
        self.assertTrue((self.build / "made/acme/scale.h").exists())
        self.assertTrue((self.build / "made/kgen_openmp.h").exists())

    def test_mistakes_are_errors(self):
        self.assertIn("unknown argument BACKENDS", self.configure("-DMORE=BACKENDS;cuda", code=1))
        self.assertIn("did you mean PARAMS?", self.configure("-DMORE=PARAM;bm=1", code=1))
        self.assertIn("nothing follows PARAMS", self.configure("-DMORE=PARAMS", code=1))
        self.assertIn("not omp", self.configure("-DMORE=TARGETS;omp", code=1))
        self.assertIn("enable_language(CUDA)", self.configure("-DMORE=TARGETS;cuda", code=1))
        shutil.rmtree(self.build)
        page = self.product / "CMakeLists.txt"
        page.write_text(page.read_text() + "kgen_add_kernels(more SPECS specs/scale.toml OUTPUT_DIR kernels_kgen)\n")
        self.assertIn("kernels_kgen already; name another folder", " ".join(self.configure(code=1).split()))
        shutil.copy(PRODUCT / "CMakeLists.txt", page)
        shutil.rmtree(self.build)
        (self.product / "specs/scale.toml").unlink()
        self.assertIn("there is no spec", self.configure(code=1))

    def test_a_wrong_spec_stops_the_build_at_its_line(self):
        self.configure()
        spec = self.product / "specs/rowsum.toml"
        spec.write_text(spec.read_text().replace("sum(x, N)", "sum(x, K)"))
        done = run("cmake", "--build", self.build, code=1)
        self.assertRegex(done, r"rowsum\.toml:4:\d+")

    def test_cross_compiling_takes_a_kgen_of_this_machine(self):
        toolchain = self.folder / "toolchain.cmake"
        toolchain.write_text("set(CMAKE_SYSTEM_NAME Linux)\nset(CMAKE_SYSTEM_PROCESSOR elsewhere)\n"
                             "set(CMAKE_FIND_ROOT_PATH /nowhere)\nset(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)\n")
        cross = f"-DCMAKE_TOOLCHAIN_FILE={toolchain}"
        self.configure(cross, f"-DKGEN_SOURCE={SOURCE}", f"-DKGEN_EXECUTABLE={self.install}/bin/kgen", prefix=False)
        run("cmake", "--build", self.build, "--target", "kernels")
        shutil.rmtree(self.build)
        without = run("cmake", "-S", self.product, "-B", self.build, "-G", "Ninja", "-DTYPE=STATIC", cross,
                      f"-DKGEN_SOURCE={SOURCE}", path="/usr/bin:/bin", code=1)
        self.assertIn("-DKGEN_EXECUTABLE=kgen-host/kgen", without)

    def test_fetch_content_offers_the_same(self):
        # Configured only as far as the build of kgen itself: what is generated is the same as with an install.
        self.configure(f"-DKGEN_SOURCE={SOURCE}", "-DMORE=NAMESPACE;product", prefix=False)
        rules = run("ninja", "-C", self.build, "-t", "query", "kernels.kgen.stamp")
        self.assertIn("/kgen", rules)
        self.assertIn("specs/scale.toml", rules)
        self.assertNotIn("unit_spec", run("ninja", "-C", self.build, "-t", "targets", "all"))

    def test_committed_files_need_neither_kgen_nor_llvm(self):
        kgen = self.install / "bin/kgen"
        (self.product / "cmake").mkdir()
        shutil.copy(SOURCE / "cmake/kgenFunctions.cmake", self.product / "cmake")
        missing = self.configure("-DKERNELS=committed", prefix=False, code=1)
        self.assertIn("To make it: kgen specs/scale.toml specs/rowsum.toml -o", missing)
        run(kgen, "specs/scale.toml", "specs/rowsum.toml", "-o", "src/generated", "--root", "src", "--targets", "openmp",
            cwd=self.product)
        helpers = self.product / "src/kgen_openmp.h"
        helpers.rename(self.product / "away.h")
        told = self.configure("-DKERNELS=committed", prefix=False, code=1)
        self.assertIn("src/kgen_openmp.h is missing", " ".join(told.split()))
        (self.product / "away.h").rename(helpers)
        shutil.rmtree(self.build)
        self.configure("-DKERNELS=committed", prefix=False)
        self.make()
        self.app()
        self.assertNotIn("kernels_drift", run("ctest", "--test-dir", self.build, "-N"))
        # With kgen there is a test for drift, which passes, and fails once a file has been edited.
        shutil.rmtree(self.build)
        self.configure("-DKERNELS=committed", f"-DKGEN_EXECUTABLE={kgen}", prefix=False)
        run("ctest", "--test-dir", self.build, "-R", "kernels_drift")
        edited = self.product / "src/generated/scale_openmp.cpp"
        edited.write_text(edited.read_text().replace("2.0f", "3.0f"))
        report = run("ctest", "--test-dir", self.build, "-R", "kernels_drift", "--output-on-failure", code=1)
        self.assertIn("edited:", report)
        self.assertIn("scale_openmp.cpp", report)

    def test_packages(self):
        run("cpack", "--config", BUILD / "CPackConfig.cmake", "-B", self.folder, cwd=self.folder)
        archive, = self.folder.glob("kgen*.tar.gz")
        package, = self.folder.glob("kgen*.deb")
        self.assertIn("bin/kgen\n", run("tar", "-tzf", archive))
        self.assertIn("/usr/bin/kgen\n", run("dpkg-deb", "-c", package))


unittest.main()
