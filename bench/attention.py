"""Widths at which torch's attention errs where all heads share keys and values: `python -m bench.attention`.

On a GPU. Each number type and head size is computed by torch's memory-efficient kernel and by its plain one, for rows
of 2 to 520 tokens with a mask. Decision 47 has what was seen, and `rows.padded_width` keeps clear of it.
"""

from __future__ import annotations

from itertools import product

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.nn.functional import scaled_dot_product_attention

HEADS, WIDTHS, HEAD_SIZES = 4, range(2, 521), (64, 128, 256)
BOUNDS = {torch.float32: 1e-3, torch.bfloat16: 0.1, torch.float16: 0.03}
"""By which a value may differ that is about one, by rounding alone."""


def main() -> None:
    """Print the widths that err, for each number type and head size."""
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}")
    for dtype, size in product(BOUNDS, HEAD_SIZES):
        errors = {columns: error(columns, size, dtype) for columns in WIDTHS}
        wrong = [columns for columns, value in errors.items() if value > BOUNDS[dtype]]
        print(f"{dtype}, heads of {size}: {len(wrong)} widths err, by at most {max(errors.values()):.2g}: {wrong}")


def error(columns: int, size: int, dtype: torch.dtype) -> float:
    """How far the memory-efficient kernel is from the plain one, for rows of so many tokens."""
    shape = (2, HEADS, columns, size)
    query = torch.randn(shape, device="cuda", dtype=dtype)
    key, value = (torch.randn((2, 1, columns, size), device="cuda", dtype=dtype).expand(shape) for _ in range(2))
    seen = torch.ones((2, 1, columns, columns), device="cuda", dtype=torch.bool).tril()
    with sdpa_kernel(SDPBackend.EFFICIENT_ATTENTION):
        quick = scaled_dot_product_attention(query, key, value, attn_mask=seen)
    with sdpa_kernel(SDPBackend.MATH):
        plain = scaled_dot_product_attention(query.float(), key.float(), value.float(), attn_mask=seen)
    return float((quick.float() - plain).abs().max())


if __name__ == "__main__":
    main()
