"""What the tests share: the targets that there are."""

import os

import pytest

import fcl


def there_is(target):
    if target == "cuda" and "FCL_LIBCUDA" not in os.environ:
        return False  # with the simulator; a real device is for those who name it
    try:
        fcl.device(target)
    except fcl.Error:
        return False
    return True


@pytest.fixture(params=["interp", "c", "opencl", "cuda"])
def target(request):
    if request.param != "interp" and not there_is(request.param):
        pytest.skip(f"no {request.param} device")
    return request.param


@pytest.fixture(params=["c", "opencl", "cuda"])
def device(request):
    if not there_is(request.param):
        pytest.skip(f"no {request.param} device")
    return request.param
