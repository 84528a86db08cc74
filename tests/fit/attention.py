#!/usr/bin/env python3
"""Models of attention alone, cut short, held against what llama.cpp itself plans for them.

usage: attention.py PLIMSOLL                       hold attention.jsonl (ctest's fit.attention)
       attention.py --write DIR                    the models alone, as sparse files of their true size
       attention.py --draw ENGINE SEED COUNT DIR   new rows of tests/oracle/rows.py, settings by lot, to stdout

The figures of a model are those of the published one of its name, with fewer layers.
"""
import sys

from recurrent import Model, main


def dense(arch, layers, width, vocabulary, inside, heads, heads_kv, head, biased=False, normed=False, output=False,
          post=False, fed=True, **keys):
    model = Model(arch, layers, width, vocabulary, feed_forward_length=inside, attention__key_length=head,
                  attention__value_length=head, rope__dimension_count=head, **keys)
    model.norms("attn_norm.weight", *(["ffn_norm.weight"] if fed else []))
    if post:
        model.norms("post_attention_norm.weight", "post_ffw_norm.weight")
    model.attention(heads, heads_kv, head, biased=biased)
    if normed:
        model.vector("*.attn_q_norm.weight", head)
        model.vector("*.attn_k_norm.weight", head)
    if inside:
        model.feed(inside)
    if output:
        model.matrix("output.weight", width, vocabulary)
    return model


def qwen3moe():
    model = dense("qwen3moe", 10, 2048, 151936, 0, 32, 4, 128, normed=True, output=True)
    model.experts(128, 8, 768)
    return model


def gpt_oss():
    model = dense("gpt-oss", 12, 2880, 201088, 0, 64, 8, 64, biased=True, output=True, fed=False,
                  attention__sliding_window=128)
    model.norms("post_attention_norm.weight", "attn_output.bias")
    model.vector("*.attn_sinks.weight", 64)
    model.experts(32, 4, 2880)
    model.vector("*.ffn_gate_inp.bias", 32)
    for name, width in (("gate", 2880), ("up", 2880), ("down", 2880)):
        model.vector(f"*.ffn_{name}_exps.bias", width, 32)
    return model


def deepseek2():
    rank, rotary, plain, heads, value = 512, 64, 128, 16, 128
    model = Model("deepseek2", 8, 2048, 102400, feed_forward_length=10944, attention__head_count=heads,
                  attention__head_count_kv=1, attention__key_length=rank + rotary, attention__value_length=rank,
                  attention__key_length_mla=plain + rotary, attention__value_length_mla=value,
                  attention__kv_lora_rank=rank, attention__q_lora_rank=1536,
                  rope__dimension_count=rotary, leading_dense_block_count=1, expert_shared_count=2,
                  expert_weights_scale=1.0)
    model.norms("attn_norm.weight", "ffn_norm.weight")
    model.matrix("*.attn_q_a.weight", 2048, 1536)
    model.vector("*.attn_q_a_norm.weight", 1536)
    model.matrix("*.attn_q_b.weight", 1536, heads * (plain + rotary))
    model.matrix("*.attn_kv_a_mqa.weight", 2048, rank + rotary)
    model.vector("*.attn_kv_a_norm.weight", rank)
    model.matrix("*.attn_k_b.weight", plain, rank, heads)
    model.matrix("*.attn_v_b.weight", rank, value, heads)
    model.matrix("*.attn_output.weight", heads * value, 2048)
    model.feed(10944, layers=[0])
    model.experts(64, 6, 1408, shared=2816, layers=range(1, 8))
    model.matrix("output.weight", 2048, 102400)
    return model


MODELS = {
    "llama-3.2-1b": lambda: dense("llama", 16, 2048, 128256, 8192, 32, 8, 64),
    "llama-3.1-70b": lambda: dense("llama", 9, 8192, 128256, 28672, 64, 8, 128, output=True),
    "qwen2.5-0.5b": lambda: dense("qwen2", 24, 896, 151936, 4864, 14, 2, 64, biased=True),
    "qwen3-4b": lambda: dense("qwen3", 12, 2560, 151936, 9728, 32, 8, 128, normed=True),
    "qwen3-30b-a3b": qwen3moe,
    "gemma-2-2b": lambda: dense("gemma2", 10, 2304, 256000, 9216, 8, 4, 256, post=True,
                                attention__sliding_window=4096),
    "gemma-3-1b": lambda: dense("gemma3", 13, 1152, 262144, 6912, 4, 1, 256, normed=True, post=True,
                                attention__sliding_window=512),
    "gpt-oss-20b": gpt_oss,
    "deepseek-v2-small": deepseek2,
}

TAKEN = [r"blk\.[2-7]\.", "attn_k", "ffn_down", r"blk\.(1|3)\..*", "exps", "token_embd", r"output\.weight", "norm"]

if __name__ == "__main__":
    sys.exit(main(MODELS, TAKEN, "attention.jsonl", __doc__))
