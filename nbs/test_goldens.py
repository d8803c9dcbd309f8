"""Each setting of goldens.py as one test: it still gives what was recorded."""
import pytest
import torch

import goldens


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.mark.parametrize("name", goldens.settings())
def test_golden(name):
    problem = goldens.fault(name)
    if problem: pytest.fail(problem, pytrace=False)


def test_nothing_is_stored_that_no_setting_asks_for():
    assert set(goldens.stored()) == set(goldens.settings())
