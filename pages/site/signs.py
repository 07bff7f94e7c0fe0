"""Lists the mathematical symbols of the glossary: the LaTeX of each symbol, and the page that shows the symbol.

The meanings of the symbols are in pages/content.
"""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Sign:
    """A mathematical symbol of the glossary, in LaTeX.

    slug, link: the page that explains the symbol, and the page's query parameters.
    """

    group: str
    key: str
    latex: str
    slug: str
    link: dict[str, str] = field(default_factory=dict)


GLOSSARY_SIGNS = (
    Sign("sizes", "B", "B", "workbench", {"more": "Tom laughed"}),
    Sign("sizes", "T", "T", "qkv", {"open": "shapes"}),
    Sign("sizes", "S", "S", "cross"),
    Sign("sizes", "H", "H", "heads"),
    Sign("sizes", "H_kv", "H_{kv}", "workbench", {"kv": "1"}),
    Sign("sizes", "D", "D", "workbench", {"step": "x"}),
    Sign("sizes", "d_k", "d_k", "scale"),
    Sign("sizes", "d_v", "d_v", "qkv", {"open": "shapes"}),
    Sign("inputs", "x", "x", "workbench", {"step": "x"}),
    Sign("inputs", "W_q", r"W_q,\ W_k,\ W_v", "qkv"),
    Sign("inputs", "W_o", "W_o", "workbench", {"step": "output"}),
    Sign("inputs", "b", r"b_q \ldots b_o", "workbench", {"b_q": "1,0,0,0"}),
    Sign("steps", "q", "q", "workbench", {"step": "q"}),
    Sign("steps", "k", "k", "workbench", {"step": "k"}),
    Sign("steps", "v", "v", "workbench", {"step": "v"}),
    Sign("steps", "scores", r"q\,k^\top", "workbench", {"step": "scores"}),
    Sign("steps", "scaled_scores", r"q\,k^\top / \sqrt{d_k}", "workbench", {"step": "scaled_scores"}),
    Sign("steps", "bias", r"\mathrm{bias}", "workbench", {"pos": "alibi", "step": "bias"}),
    Sign("steps", "allowed", r"\mathrm{allowed}", "workbench", {"mask": "causal", "step": "allowed"}),
    Sign("steps", "masked_scores", r"\mathrm{masked}", "workbench", {"mask": "causal", "step": "masked_scores"}),
    Sign("steps", "weights", "A", "workbench", {"step": "weights"}),
    Sign("steps", "head_outputs", "Z", "workbench", {"step": "head_outputs"}),
    Sign("steps", "concat", r"\mathrm{concat}", "workbench", {"step": "concat"}),
    Sign("steps", "output", r"\mathrm{output}", "workbench", {"step": "output"}),
    Sign("steps", "hidden", r"\tanh", "workbench", {"score": "additive", "step": "hidden"}),
    Sign("operations", "softmax", r"\mathrm{softmax}", "softmax"),
    Sign("operations", "temperature", r"\tau", "softmax", {"temperature": "0.25"}),
    Sign("operations", "jacobian", r"\partial w_i / \partial x_j", "softmax", {"open": "slope"}),
    Sign("operations", "logits", r"x_1, x_2, \ldots", "softmax"),
    Sign("scores", "dot", r"q \cdot k", "scores"),
    Sign("scores", "scaled_dot", r"q \cdot k / \sqrt{d_k}", "scale"),
    Sign("scores", "cosine", r"\cos(q, k)", "scores", {"open": "ceiling"}),
    Sign("scores", "general", r"q\, W_a\, k^\top", "scores", {"open": "widths"}),
    Sign("scores", "additive", r"v_a \cdot \tanh(q\, W_{aq} + k\, W_{ak})", "scores", {"open": "inside"}),
    Sign("masks", "causal", r"j \le i + (S - T)", "masks", {"open": "future"}),
    Sign("masks", "padding", r"j < \mathrm{length}", "masks", {"open": "pairs"}),
    Sign("masks", "local", r"|i - j| \le w", "masks", {"open": "pairs"}),
    Sign("masks", "sliding", r"i - w < j \le i", "masks", {"open": "pairs"}),
    Sign("masks", "sink", r"\langle s \rangle", "workbench", {"ex": "en_it_sink"}),
    Sign("heads", "multi_head", r"\mathrm{head}_1 \ldots \mathrm{head}_H", "heads", {"open": "bring"}),
    Sign("heads", "grouped", r"h \mapsto h // (H/H_{kv})", "heads", {"open": "share"}),
    Sign("heads", "residual", r"x + \mathrm{output}", "workbench", {"wiring": "residual", "step": "residual"}),
    Sign("positions", "sinusoidal", r"\sin,\ \cos", "positions", {"open": "sines"}),
    Sign("positions", "learned_table", "x + P_p", "workbench", {"pos": "learned", "step": "learned_x"}),
    Sign("positions", "rope", r"R_p\,q,\ R_p\,k", "positions", {"open": "distance"}),
    Sign("positions", "alibi", r"-m\,|i - j|", "positions", {"open": "distance"}),
    Sign("today", "softcap", r"c\,\tanh(x / c)", "workbench", {"mod": "softcap:2", "step": "capped_scores"}),
    Sign("today", "qk_norm", r"q / \mathrm{rms}(q)", "workbench", {"mod": "qk_norm", "step": "q"}),
    Sign("today", "learned_sink", "s_h", "workbench", {"norm": "sinks", "step": "weights"}),
    Sign("today", "sigmoid", r"\sigma(x + b)", "workbench", {"norm": "sigmoid", "step": "weights"}),
    Sign("today", "differential", r"A_1 - \lambda A_2", "workbench", {"mod": "differential", "step": "weights"}),
    Sign("today", "latent", r"c = x\,W_{DKV}", "workbench", {"mod": "latent", "step": "latent_x"}),
    Sign("today", "decoupled_rope", r"q\,k^\top + q_r k_r^\top", "workbench", {"pos": "decoupled_rope", "step": "k_r"}),
    Sign("today", "gate", r"\sigma(x\,W_g) \odot Z", "workbench", {"mod": "gate", "step": "gate"}),
    Sign("today", "relative", r"w_{j - i}", "workbench", {"pos": "t5", "step": "bias"}),
    Sign("today", "linear_state", r"\sum_j \varphi(k_j)^\top v_j", "decoding", {"open": "kept", "what": "state"}),
    Sign("settings", "self", r"x \to x", "qkv"),
    Sign("settings", "cross", r"x \to y", "cross"),
    Sign("settings", "context", "c_t", "cross", {"open": "context_vector"}),
    Sign("settings", "cache", r"K_{\le t},\ V_{\le t}", "decoding", {"open": "kept"}),
    Sign("settings", "path", "O(1)", "distance", {"open": "cost"}),
    Sign("settings", "influence", r"\partial h_t / \partial x_s", "distance"),
    Sign("settings", "block", r"m,\ \ell", "cost", {"open": "stored"}),
    Sign("learning", "loss", r"-\ln p", "bottleneck"),
    Sign("learning", "alignment", r"\alpha_{ti}", "bottleneck", {"task": "dates", "open": "one_step"}),
    Sign("learning", "induction", r"AB \ldots A \to B", "induction"),
    Sign("learning", "shift", r"\tfrac12 \sum |p - p'|", "explanation"),
)
