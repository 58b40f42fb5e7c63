"""A Debian 12 with nothing in it, for tests of what is installed there. It takes root, debootstrap and the network."""

import os
import shutil
from harness import Skip

# The network is this machine's, and so is whom pip is to trust on it.
OURS = (("/etc/resolv.conf", "etc"), ("/etc/hosts", "etc"), ("/etc/ssl/certs/ca-certificates.crt", "root"))
START = """\
mount -t proc proc /proc
mount -t sysfs sysfs /sys
export DEBIAN_FRONTEND=noninteractive HOME=/root PATH=$PATH
[ ! -e /root/ca-certificates.crt ] || export PIP_CERT=/root/ca-certificates.crt
"""


def make(env):
    """The folder of a new one."""
    tool = env.tool("debootstrap")
    if os.geteuid() != 0:
        raise Skip("not root: no root folder of its own can be made")
    root = os.path.join(env.tmp(), "root")
    done = env.run(tool, "--variant=minbase", "bookworm", root, timeout=1200)
    if done.returncode:
        raise Skip("debootstrap: " + (done.stdout.strip().split("\n") or [""])[-1])
    for name, there in OURS:
        if os.path.exists(name):
            shutil.copy(name, os.path.join(root, there))
    return root


def run(env, root, script):
    """What bash prints for the script in there; fails where it does."""
    with open(os.path.join(root, "typed"), "w", encoding="utf-8") as file:
        file.write(START + script)
    done = env.run("unshare", "--mount", "--pid", "--fork", "chroot", root, "env", "-i", "bash", "/typed", timeout=3600)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
