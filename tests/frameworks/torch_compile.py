# SPDX-License-Identifier: MIT
"""torch.compile on the processor, which runs a compiler and loads what that made."""
import maps
import torch


@torch.compile
def function(x):
    return torch.sin(x) ** 2 + torch.cos(x) ** 2


print(function(torch.arange(1000.0)).sum().item())
