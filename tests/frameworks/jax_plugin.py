# SPDX-License-Identifier: MIT
"""JAX with its CUDA plugin installed, where there is no GPU: it goes on without."""
import logging

import maps
import jax
import jax.numpy as jnp

logging.disable(logging.CRITICAL)
print(jax.__version__, [device.platform for device in jax.devices()])
print(jax.jit(lambda x: (x * x).sum())(jnp.arange(100.0)))
try:
    jax.devices("cuda")
except RuntimeError as error:
    print(type(error).__name__)
