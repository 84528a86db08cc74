// Preloaded into llama-fit-params: tells every tensor that an architecture asks for, and makes it up.
//
// A file with the metadata alone then loads, graphs are drawn, and one run prints the model's whole list of tensors:
// lines "want: NAME SIZE..." on standard error. What is optional is taken or left as a hash of its name (without the
// layer's number) and WANT_SEED decide, WANT_SHARE of it. Both functions are members of libllama's model loader and
// called through its table of symbols.
#include <cctype>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <unistd.h>
#include <vector>

#include <ggml.h>

struct llama_model_loader {
    const ggml_tensor *check_tensor_dims(const std::string &name, const std::vector<int64_t> &shape, bool required,
                                         bool reshape) const;
    void done_getting_tensors(bool partial) const;
};

static std::map<std::string, ggml_tensor> made;

static uint64_t hash_of(const std::string &text)
{
    uint64_t hash = 1469598103934665603u;
    for (unsigned char c : text)
        hash = (hash ^ c) * 1099511628211u;
    return hash ^ hash >> 29;
}

static std::string without_numbers(const std::string &name)
{
    std::string out;
    for (size_t i = 0; i < name.size(); i++)
        if (!isdigit((unsigned char)name[i]) || (i > 0 && name[i - 1] != '.' && out.back() != '*'))
            out += name[i];
        else if (out.empty() || out.back() != '*')
            out += '*';
    return out;
}

static bool is_taken(const std::string &name, const std::vector<int64_t> &shape)
{
    const char *seed = getenv("WANT_SEED"), *share = getenv("WANT_SHARE");
    for (int64_t size : shape)
        if (size <= 0)
            return false;
    return (double)(hash_of((seed ? seed : "") + without_numbers(name)) % 1000) < 1000 * atof(share ? share : "0.5");
}

static void fill(ggml_tensor &tensor, const std::string &name, const std::vector<int64_t> &shape)
{
    memset(&tensor, 0, sizeof tensor);
    tensor.type = name.find("tid2eid") != std::string::npos ? GGML_TYPE_I32 : GGML_TYPE_F32;
    tensor.nb[0] = 4;
    for (size_t d = 0; d < GGML_MAX_DIMS; d++) {
        tensor.ne[d] = d < shape.size() ? shape[d] : 1;
        if (d > 0)
            tensor.nb[d] = tensor.nb[d - 1] * (size_t)tensor.ne[d - 1];
    }
    snprintf(tensor.name, sizeof tensor.name, "%s", name.c_str());
}

const ggml_tensor *llama_model_loader::check_tensor_dims(const std::string &name, const std::vector<int64_t> &shape,
                                                         bool required, bool) const
{
    auto known = made.find(name);
    if (known != made.end())
        return &known->second;
    if (!required && !is_taken(name, shape))
        return nullptr;
    std::string line = "\nwant: " + name;
    for (int64_t size : shape)
        line += " " + std::to_string(size);
    fprintf(stderr, "%s\n", line.c_str());
    fill(made[name], name, shape);
    return &made[name];
}

void llama_model_loader::done_getting_tensors(bool) const {} // the file has none of them

// The log is written by another thread: what it says of a failure must get out before the process ends.
static void end(int)
{
    usleep(40000);
    _exit(139);
}

extern "C" void ggml_print_backtrace(void)
{
    usleep(40000);
}

__attribute__((constructor)) static void begin()
{
    signal(SIGSEGV, end);
}
