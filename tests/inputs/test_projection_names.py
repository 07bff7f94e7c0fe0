"""Matrices of a layer under the names of libraries: each gives the numbers that the library's own layer gives."""

import io

import numpy as np
import pytest
import torch

from attention_core import AttentionError
from attention_core.inputs.files.matrix_file import read_matrix

D, H, WIDTH = 5, 2, 3


def npz(**arrays):
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize("prefix", ["q_proj", "attn.query", "blocks.0.self_attn.to_q", "wq"])
def test_the_weight_of_a_linear_layer_is_turned(prefix):
    layer = torch.nn.Linear(D, H * WIDTH, dtype=torch.float64)
    state = {f"{prefix}.{name}": tensor.detach().numpy() for name, tensor in layer.state_dict().items()}
    content = npz(**state, **{"k_proj.weight": np.ones((2, 2))})
    x = torch.randn(7, D, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    ours = x.numpy() @ read_matrix("m.npz", content, "w_q") + read_matrix("m.npz", content, "b_q")
    assert ours == pytest.approx(layer(x).detach().numpy(), abs=1e-12)


def test_the_packed_weight_of_multihead_attention_is_cut_in_thirds():
    layer = torch.nn.MultiheadAttention(4, 2, dtype=torch.float64)
    content = npz(**{name: tensor.detach().numpy() for name, tensor in layer.state_dict().items()})
    for number, letter in enumerate("qkv"):
        third = layer.in_proj_weight.detach().numpy()[4 * number : 4 * number + 4]
        assert np.array_equal(read_matrix("m.npz", content, f"w_{letter}"), third.T)
    assert np.array_equal(read_matrix("m.npz", content, "w_o"), layer.out_proj.weight.detach().numpy().T)


def test_the_heads_of_transformer_lens_stand_beside_each_other():
    random = np.random.default_rng(0)
    w_q, w_o = random.normal(size=(H, D, WIDTH)), random.normal(size=(H, WIDTH, D))
    content = npz(**{"blocks.0.attn.W_Q": w_q, "blocks.0.attn.W_O": w_o, "blocks.0.attn.b_Q": w_q[:, 0]})
    x, z = random.normal(size=(7, D)), random.normal(size=(7, H, WIDTH))
    right = np.einsum("td,hdw->thw", x, w_q)
    assert (x @ read_matrix("m.npz", content, "w_q")).reshape(7, H, WIDTH) == pytest.approx(right)
    assert z.reshape(7, -1) @ read_matrix("m.npz", content, "w_o") == pytest.approx(np.einsum("thw,hwd->td", z, w_o))
    assert read_matrix("m.npz", content, "b_q").tolist() == [w_q[:, 0].flatten().tolist()]


def test_a_name_that_says_nothing_is_taken_as_it_is_or_asked_for():
    assert read_matrix("m.npz", npz(a=np.array([[1.0, 2.0]])), "w_q").tolist() == [[1, 2]]
    with pytest.raises(AttentionError) as asked:
        read_matrix("m.npz", npz(a=np.ones((2, 2)), b=np.ones((2, 2))), "w_q")
    assert asked.value.code == "which_array"
