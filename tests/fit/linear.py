#!/usr/bin/env python3
"""Models of linear attention (RWKV, gated delta rules, short convolutions), held as recurrent.py holds its own.

usage: linear.py PLIMSOLL                       hold linear.jsonl (ctest's fit.linear)
       linear.py --write DIR                    the models alone, as sparse files of their true size
       linear.py --draw ENGINE SEED COUNT DIR   new rows of tests/oracle/rows.py, settings by lot, to stdout
"""
import sys

import recurrent
from recurrent import Model


def others(layers, these):
    return [il for il in range(layers) if il not in these]


# ---- gated delta rules ---------------------------------------------------------------------------------------------


def qwen(arch, layers, width, inside, heads, heads_kv, head, state, groups, rank, attends, vocabulary=151936,
         experts=None, fused=True, listed=False, tied=False, predicts=0):
    """experts: count, used, width, width of the shared one. fused: one matrix for queries, keys and values."""
    total, key, inner = layers + predicts, state * groups, state * rank
    model = Model(arch, total, width, vocabulary, feed_forward_length=inside, attention__key_length=head,
                  attention__value_length=head, rope__dimension_count=64, ssm__conv_kernel=4, ssm__inner_size=inner,
                  ssm__state_size=state, ssm__time_step_rank=rank, ssm__group_count=groups)
    attend = [il for il in range(layers) if attends(il)]
    scans, full = others(layers, attend), attend + list(range(layers, total))
    if listed:
        model.key(attention__recurrent_layers=[il in scans for il in range(total)])
    else:
        model.key(full_attention_interval=attend[0] + 1)
    if arch != "qwen3next":
        model.key(rope__dimension_sections=[11, 11, 10, 0])
    model.norms("attn_norm.weight", "post_attention_norm.weight")
    if fused:
        model.matrix("*.attn_qkv.weight", width, 2 * key + inner, layers=scans)
        model.matrix("*.attn_gate.weight", width, inner, layers=scans)
    else:
        model.matrix("*.ssm_in.weight", width, 2 * key + 2 * inner, layers=scans)
    for name in ("ssm_ba",) if arch == "qwen3next" else ("ssm_beta", "ssm_alpha"):
        model.matrix(f"*.{name}.weight", width, 2 * rank if name == "ssm_ba" else rank, layers=scans)
    model.vector("*.ssm_conv1d.weight", 4, 2 * key + inner, layers=scans)
    for name, of in (("ssm_dt.bias", rank), ("ssm_a", rank), ("ssm_norm.weight", state)):
        model.vector("*." + name, of, layers=scans)
    model.matrix("*.ssm_out.weight", inner, width, layers=scans)
    model.attention(heads, heads_kv, head, layers=full)
    model.tensors = [t for t in model.tensors if not t[0].endswith("attn_q.weight")]
    model.matrix("*.attn_q.weight", width, 2 * heads * head, layers=full)
    model.key(attention__head_count_kv=heads_kv)
    for name in ("q", "k"):
        model.vector(f"*.attn_{name}_norm.weight", head, layers=full)
    if experts:
        model.experts(*experts)
        model.vector("*.ffn_gate_inp_shexp.weight", width)
    else:
        model.feed(inside)
    if predicts:
        model.key(nextn_predict_layers=predicts)
        model.matrix("*.nextn.eh_proj.weight", 2 * width, width, layers=range(layers, total))
        for name in ("enorm", "hnorm", "shared_head_norm"):
            model.vector(f"*.nextn.{name}.weight", width, layers=range(layers, total))
    if not tied:
        model.matrix("output.weight", width, vocabulary)
    return model


def every(period):
    return lambda il: (il + 1) % period == 0


def kimi(layers, width, inside, heads, head, rank, rotary, key, value, attends, experts):
    """experts: count, used, width, width of the shared one."""
    model = Model("kimi-linear", layers, width, 163840, feed_forward_length=inside, attention__head_count=heads,
                  attention__head_count_kv=[1 if il in attends else 0 for il in range(layers)],
                  attention__key_length_mla=key, attention__value_length_mla=value, attention__kv_lora_rank=rank,
                  attention__key_length=rank + rotary, attention__value_length=rank, rope__dimension_count=rotary,
                  ssm__conv_kernel=4, kda__head_dim=head, expert_shared_count=1, leading_dense_block_count=1,
                  expert_weights_scale=2.446, expert_gating_func=2)
    scans, inner = others(layers, attends), heads * head
    model.norms("attn_norm.weight", "ffn_norm.weight")
    for name in "qkv":
        model.vector(f"*.ssm_conv1d_{name}.weight", 4, 1, inner, layers=scans)
        model.matrix(f"*.attn_{name}.weight", width, inner, layers=scans)
    for name in "fg":
        model.matrix(f"*.ssm_{name}_a.weight", width, head, layers=scans)
        model.matrix(f"*.ssm_{name}_b.weight", head, inner, layers=scans)
    model.matrix("*.ssm_beta.weight", width, heads, layers=scans)
    model.vector("*.ssm_a", 1, heads, layers=scans)
    model.vector("*.ssm_dt.bias", inner, layers=scans)
    model.vector("*.ssm_norm.weight", head, layers=scans)
    model.matrix("*.attn_output.weight", inner, width, layers=scans)
    model.vector("*.attn_kv_a_norm.weight", rank, layers=attends)
    model.matrix("*.attn_q.weight", width, heads * key, layers=attends)
    model.matrix("*.attn_kv_a_mqa.weight", width, rank + rotary, layers=attends)
    model.matrix("*.attn_k_b.weight", key - rotary, rank, heads, layers=attends)
    model.matrix("*.attn_v_b.weight", rank, value, heads, layers=attends)
    model.matrix("*.attn_output.weight", heads * value, width, layers=attends)
    model.feed(inside, layers=[0])
    model.experts(*experts, layers=range(1, layers))
    model.vector("*.exp_probs_b.bias", experts[0], layers=range(1, layers))
    model.matrix("output.weight", width, 163840)
    return model


# ---- short convolutions --------------------------------------------------------------------------------------------


def lfm2(layers, width, inside, heads, heads_kv, attends, reach=3, window=0, experts=None, dense=0):
    """experts: count, used, width; the first `dense` layers have none."""
    head, scans = width // heads, others(layers, attends)
    model = Model("lfm2moe" if experts else "lfm2", layers, width, 65536, feed_forward_length=inside,
                  shortconv__l_cache=reach)
    model.tensors.pop()  # its output norm has the embeddings' name
    model.vector("token_embd_norm.weight", width)
    model.norms("attn_norm.weight", "ffn_norm.weight")
    model.vector("*.shortconv.conv.weight", reach, width, layers=scans)
    model.matrix("*.shortconv.in_proj.weight", width, 3 * width, layers=scans)
    model.matrix("*.shortconv.out_proj.weight", width, width, layers=scans)
    model.attention(heads, heads_kv, head, layers=attends)
    for name in ("q", "k"):
        model.vector(f"*.attn_{name}_norm.weight", head, layers=attends)
    if window:
        model.key(attention__sliding_window=window)
    if experts:
        model.key(leading_dense_block_count=dense, expert_gating_func=2)
        model.experts(*experts, layers=range(dense, layers))
        model.vector("*.exp_probs_b.bias", experts[0], layers=range(dense, layers))
    model.feed(inside, layers=range(dense) if experts else None)
    return model


# ---- RWKV ----------------------------------------------------------------------------------------------------------


def rwkv(arch, layers, width, inside, head, vocabulary, **keys):
    """What all have; the two that were transformers feed forward, the others mix their channels."""
    model = Model(arch, layers, width, vocabulary, feed_forward_length=inside, attention__head_count=0,
                  wkv__head_size=head, attention__layer_norm_epsilon=1e-5, **keys)
    model.matrix("output.weight", width, vocabulary)
    model.norms("attn_norm.weight")
    for name in ("receptance", "output"):
        model.matrix(f"*.time_mix_{name}.weight", width, width)
    if arch in ("rwkv6qwen2", "arwkv7"):
        model.key(token_shift_count=1)
        model.norms("ffn_norm.weight")
        model.feed(inside)
        return model
    model.norms("attn_norm.bias", "attn_norm_2.weight", "attn_norm_2.bias", "channel_mix_lerp_k.weight")
    for name in ("token_embd_norm.weight", "token_embd_norm.bias", "output_norm.bias"):
        model.vector(name, width)
    model.matrix("*.channel_mix_key.weight", width, inside)
    model.matrix("*.channel_mix_value.weight", inside, width)
    return model


def rwkv6(arch, layers, width, inside, head, extra, decay, vocabulary, heads_kv=0, fused=True):
    """heads_kv: of keys and values, where fewer have them. fused: the five interpolations are one tensor."""
    model = rwkv(arch, layers, width, inside, head, vocabulary, time_mix_extra_dim=extra, time_decay_extra_dim=decay,
                 rescale_every_n_layers=6)
    keys = heads_kv * head or width
    model.matrix("*.time_mix_w1.weight", width, extra * 5)
    model.matrix("*.time_mix_w2.weight", extra, width, 5)
    model.vector("*.time_mix_lerp_x.weight", width, 1, 1)
    for name in ("lerp_fused",) if fused else [f"lerp_{of}" for of in "wkvrg"]:
        model.vector(f"*.time_mix_{name}.weight", width, 1, 1, *([5] if fused else []))
    model.vector("*.time_mix_decay.weight", width)
    model.matrix("*.time_mix_decay_w1.weight", width, decay)
    model.matrix("*.time_mix_decay_w2.weight", decay, width)
    model.matrix("*.time_mix_gate.weight", width, width)
    for name in ("key", "value"):
        model.matrix(f"*.time_mix_{name}.weight", width, keys)
    if heads_kv:
        model.key(attention__head_count=width // head, attention__head_count_kv=heads_kv)
        for name, of in (("key", keys), ("value", keys), ("receptance", width)):
            model.vector(f"*.time_mix_{name}.bias", of)
    if arch == "rwkv6":
        model.vector("*.time_mix_first.weight", head, width // head)
        model.norms("time_mix_ln.weight", "time_mix_ln.bias", "channel_mix_lerp_r.weight")
        model.matrix("*.channel_mix_receptance.weight", width, width)
    return model


def rwkv7(arch, layers, width, inside, head, ranks, vocabulary, normed=True):
    """ranks: of decay, rate, values, gate; 0: there is no gate."""
    decay, rate, values, gate = ranks
    model = rwkv(arch, layers, width, inside, head, vocabulary, attention__decay_lora_rank=decay,
                 attention__iclr_lora_rank=rate, attention__value_residual_mix_lora_rank=values)
    narrow = [("w", decay, None), ("a", rate, None), ("v", rate, [0]), ("v", values, range(1, layers))]
    if gate:
        model.key(attention__gate_lora_rank=gate)
        narrow.append(("g", gate, None))
    for name, rank, where in narrow:
        model.matrix(f"*.time_mix_{name}1.weight", width, rank, layers=where)
        model.matrix(f"*.time_mix_{name}2.weight", rank, width, layers=where)
    model.norms(*(f"time_mix_{name}.weight" for name in ("w0", "a0", "v0", "k_k", "k_a", "r_k")))
    model.vector("*.time_mix_lerp_fused.weight", width, 1, 1, 6 if gate else 5)
    for name in ("key", "value"):
        model.matrix(f"*.time_mix_{name}.weight", width, width)
    if normed:
        model.norms("time_mix_ln.weight", "time_mix_ln.bias")
    return model


MODELS = {
    "qwen3.5-0.8b": lambda: qwen("qwen35", 12, 1024, 3584, 8, 2, 256, 128, 16, 16, every(4), 248320, tied=True),
    "qwen3.5-27b": lambda: qwen("qwen35", 12, 5120, 17408, 24, 4, 256, 128, 16, 48, every(4), 248320),
    "qwen3.5-9b-predicts": lambda: qwen("qwen35", 8, 4096, 12288, 16, 4, 256, 128, 16, 32, every(4), 248320,
                                        predicts=1),
    "qwen3.5-odd": lambda: qwen("qwen35", 10, 1536, 4096, 12, 3, 128, 64, 6, 24, lambda il: il in (3, 4, 7), 33000,
                                listed=True),
    "qwen3.5-35b-a3b": lambda: qwen("qwen35moe", 12, 2048, 5120, 16, 2, 256, 128, 16, 32, every(4), 248320,
                                    experts=(256, 8, 512, 512)),
    "qwen3.5-moe-odd": lambda: qwen("qwen35moe", 9, 768, 1024, 6, 3, 128, 64, 5, 15, every(3), 33000,
                                    experts=(24, 3, 320, 192), predicts=1),
    "qwen3-next-old": lambda: qwen("qwen3next", 8, 2048, 5120, 16, 2, 256, 128, 16, 32, every(4),
                                   experts=(64, 10, 512, 512), fused=False),
    "qwen3-next-odd": lambda: qwen("qwen3next", 10, 1024, 2048, 8, 2, 128, 128, 8, 8, every(5), 33000,
                                   experts=(16, 2, 512, 512), tied=True),
    "kimi-linear-48b": lambda: kimi(8, 2304, 9216, 32, 128, 512, 64, 192, 128, [3, 7], (256, 8, 1024, 1024)),
    "lfm2-2.6b": lambda: lfm2(15, 2048, 10752, 32, 8, [2, 5, 9, 13], reach=4),
    "lfm2-window": lambda: lfm2(12, 1024, 2560, 16, 4, [1, 4, 7, 11], window=512),
    "lfm2-8b-a1b": lambda: lfm2(12, 2048, 7168, 32, 8, [2, 6, 10], experts=(32, 4, 1792), dense=2),
    "rwkv6-1.6b": lambda: rwkv6("rwkv6", 12, 2048, 7168, 64, 32, 64, 65536),
    "rwkv6-old": lambda: rwkv6("rwkv6", 10, 1024, 3584, 64, 32, 64, 32000, fused=False),
    "qwerky-32b": lambda: rwkv6("rwkv6qwen2", 8, 5120, 27648, 128, 64, 128, 152064, heads_kv=8),
    "rwkv7-0.4b": lambda: rwkv7("rwkv7", 24, 1024, 4096, 64, (64, 64, 32, 128), 65536),
    "arwkv-7b": lambda: rwkv7("arwkv7", 8, 3584, 18944, 64, (96, 96, 64, 320), 152064, normed=False),
    "arwkv-ungated": lambda: rwkv7("arwkv7", 10, 1536, 8960, 64, (64, 64, 32, 0), 152064),
}

TAKEN = [r"blk\.[2-7]\.(ssm|time_mix|shortconv).*", "attn_", "ffn_down", r"blk\.(1|3)\..*", "exps", "norm", "lerp",
         "time_mix_(w|a|v|g)", "output"]

if __name__ == "__main__":
    sys.exit(recurrent.main(MODELS, TAKEN, "linear.jsonl", __doc__))
