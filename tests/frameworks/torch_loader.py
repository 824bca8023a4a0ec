# SPDX-License-Identifier: MIT
"""A data loader with worker processes, forked and spawned."""
import maps
import torch
from torch.utils.data import DataLoader, Dataset


class Numbers(Dataset):
    def __len__(self):
        return 256

    def __getitem__(self, index):
        return torch.tensor([index, index * index])


if __name__ == "__main__":
    for context in ("fork", "spawn"):
        loader = DataLoader(Numbers(), batch_size=16, num_workers=2,
                            multiprocessing_context=context)
        print(context, sum(batch.sum().item() for batch in loader))
