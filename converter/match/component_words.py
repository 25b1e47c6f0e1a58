"""Words of component and class names: wrappers that mean nothing, synonyms that mean the same, similarity of two names."""

from __future__ import annotations

import re
from functools import lru_cache

# Components that toolkits put around a module and that name nothing in the model. "module" is what DDP, FSDP,
# Float16Module and the DeepSpeed engine call the model they hold; the others come from torch.compile, FSDP and
# activation checkpointing. They are removed as whole components only, never inside a name.
WRAPPER_COMPONENTS = frozenset(
    {"module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module", "_forward_module", "_backbone"}
)

# Classes that pass a tensor on unchanged: a toolkit's "nothing here". They pair with their like only.
IDENTITY_CLASSES = frozenset({"Identity", "IdentityOp", "IdentityFuncOp", "NoopLayer"})

# A whole component → what it is called in every toolkit. Checked before single words.
_PHRASES = {
    "word embedding": (
        "embed_tokens",
        "word_embeddings",
        "wte",
        "tok_embeddings",
        "token_embedding",
        "embedding_table",
        "emb",
        "embed",
        "word_embedding",
        "token_embeddings",
        "embeddings",
        "embed_in",
        "tok_embedding",
    ),
    "position embedding": ("wpe", "position_embeddings", "embed_positions", "pos_emb", "pos_embed", "position_embedding"),
    "rotary embedding": ("rotary_emb", "rotary_pos_emb", "rotary", "rope", "rotary_embedding", "rotary_position_embedding"),
    "attention": ("attn", "self_attn", "self_attention", "attention", "mha", "self_attention_layer", "sa"),
    "cross attention": ("cross_attn", "cross_attention", "crossattention", "encdecattention", "encoder_attn", "inter_attention"),
    "feed forward": ("mlp", "ffn", "feed_forward", "feedforward", "ff", "densereludense", "block_sparse_moe", "moe"),
    "norm before attention": (
        "input_layernorm",
        "norm1",
        "ln1",
        "ln_1",
        "attention_norm",
        "input_norm",
        "layer_norm1",
        "layernorm1",
        "attn_norm",
        "self_attn_layer_norm",
        "pre_attention_layernorm",
    ),
    "norm before feed forward": (
        "post_attention_layernorm",
        "pre_mlp_layernorm",
        "norm2",
        "ln2",
        "ln_2",
        "ffn_norm",
        "layer_norm2",
        "layernorm2",
        "final_layer_norm",
        "mlp_norm",
        "post_attention_norm",
    ),
    "final norm": ("norm", "final_layernorm", "ln_f", "final_norm", "norm_out", "ln_out", "encoder_norm", "decoder_norm"),
    "query": ("q", "q_proj", "wq", "query", "linear_q", "q_lin", "to_q", "query_proj"),
    "key": ("k", "k_proj", "wk", "key", "linear_k", "k_lin", "to_k", "key_proj"),
    "value": ("v", "v_proj", "wv", "value", "linear_v", "v_lin", "to_v", "value_proj"),
    "query key value": ("linear_qkv", "qkv", "qkv_proj", "query_key_value", "c_attn", "wqkv", "in_proj", "to_qkv", "w_pack"),
    "attention output": ("o", "o_proj", "linear_proj", "out_proj", "wo", "dense", "c_proj", "proj", "to_out", "out_lin", "o_lin", "out"),
    "gate": ("gate_proj", "w1", "gate", "linear_gate"),
    "up": ("up_proj", "w3", "up", "linear_up"),
    "gate up": ("gate_up_proj", "linear_fc1", "w13", "gate_up", "merged_linear"),
    "first linear": ("fc1", "dense_h_to_4h", "c_fc", "lin1", "linear1", "intermediate", "wi", "fc_in"),
    "down": ("down_proj", "linear_fc2", "w2", "dense_4h_to_h", "fc2", "lin2", "linear2", "down", "wo_mlp", "fc_out", "linear_down"),
    "activation": ("act", "act_fn", "activation_fn", "activation", "activation_func", "gelu", "relu", "silu"),
    "router": ("router", "gate_network", "mixer_gate", "wg"),
    "experts": ("experts", "local_experts"),
    "shared expert": ("shared_expert", "shared_experts"),
    "output layer": ("lm_head", "output_layer", "head", "output", "score", "classifier", "embed_out", "logits_head"),
    "query norm": ("q_norm", "q_layernorm", "query_norm", "norm_q"),
    "key norm": ("k_norm", "k_layernorm", "key_norm", "norm_k"),
    "layers": ("layers", "h", "blocks", "layer", "block", "transformer_layers", "decoder_layers", "resblocks"),
    "dropout": (
        "dropout",
        "drop",
        "attn_drop",
        "resid_dropout",
        "attention_dropout",
        "hidden_dropout",
        "embedding_dropout",
        "embed_dropout",
    ),
    "patch embedding": ("patch_embed", "patch_embedding", "patch_embeddings", "conv_proj"),
    "projector": ("merger", "projector", "multi_modal_projector", "mm_projector"),
}
_PHRASE_OF = {name: phrase for phrase, names in _PHRASES.items() for name in names}
# Phrases of one family may stand for each other: one toolkit fuses or splits what the other names apart.
_FAMILY = {
    "query": "qkv",
    "key": "qkv",
    "value": "qkv",
    "query key value": "qkv",
    "gate": "fc1",
    "up": "fc1",
    "gate up": "fc1",
    "first linear": "fc1",
    "norm before attention": "norm",
    "norm before feed forward": "norm",
    "final norm": "norm",
}
_WORD_SYNONYM = {
    "attn": "attention",
    "mha": "attention",
    "ln": "norm",
    "layernorm": "norm",
    "rmsnorm": "norm",
    "rms": "norm",
    "emb": "embedding",
    "embed": "embedding",
    "embeddings": "embedding",
    "tok": "token",
    "tokens": "token",
    "pos": "position",
    "ffn": "mlp",
    "fc": "linear",
    "dense": "linear",
    "lin": "linear",
    "proj": "projection",
    "blocks": "layer",
    "block": "layer",
    "layers": "layer",
    "act": "activation",
    "fn": "function",
    "func": "function",
    "gelu": "gelu",
    "drop": "dropout",
    "conv2d": "conv",
    "parallel": "",
    "column": "",
    "row": "",
    "vocab": "",
    "fused": "",
    "te": "",
    "layer": "layer",
    "cell": "",
    "op": "",
    "decoder": "decoder",
    "transformer": "transformer",
}
_SPLIT = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")


@lru_cache(maxsize=65536)
def words(name: str) -> frozenset[str]:
    """Lower-case words of an identifier, synonyms unified, toolkit noise dropped ("RMSNorm" → {"norm"})."""
    found = set()
    for part in name.split("_"):
        low = part.lower()
        if low in _WORD_SYNONYM:
            found.add(_WORD_SYNONYM[low])
            continue
        for word in _SPLIT.findall(part):
            low = word.lower()
            found.add(_WORD_SYNONYM.get(low, low))
    found.discard("")
    return frozenset(found)


@lru_cache(maxsize=65536)
def phrase(component: str) -> str:
    """What a component is in every toolkit ("linear_proj" → "attention output"); "" if unknown."""
    return _PHRASE_OF.get(component.lower(), "")


@lru_cache(maxsize=262144)
def component_similarity(a: str, b: str) -> float:
    """How much two components name the same thing: 1 = same, 0.8 = same phrase, 0.5 = same family, else shared words."""
    if a == b:
        return 1.0
    phrase_a, phrase_b = phrase(a), phrase(b)
    if phrase_a and phrase_a == phrase_b:
        return 0.8
    if phrase_a and phrase_b and _FAMILY.get(phrase_a, phrase_a) == _FAMILY.get(phrase_b, phrase_b):
        return 0.5
    words_a, words_b = words(a), words(b)
    if not words_a or not words_b:
        return 0.0
    shared = len(words_a & words_b)
    return 0.7 * 2 * shared / (len(words_a) + len(words_b))


def normalised_path(path: tuple[str, ...]) -> tuple[str, ...]:
    """The path without wrapper components and without the leading index of a model passed as a list.

    Only whole components go. The path of a wrapper itself ("module", "0.module") becomes empty.
    """
    kept = [component for component in path if component not in WRAPPER_COMPONENTS]
    if kept and kept[0].isdigit() and path[0] == kept[0]:
        kept.pop(0)
    return tuple(kept)
