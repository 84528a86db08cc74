# bash completion of plimsoll, made by: plimsoll help --completion bash
_plimsoll() {
    local command=show words i
    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
    for ((i = 1; i < COMP_CWORD; i++)); do
        [[ ${COMP_WORDS[i]} == -* ]] || { command=${COMP_WORDS[i]}; break; }
        break
    done
    case $command:$prev in
        show:--color) words="auto always never" ;;
        devices:--color) words="auto always never" ;;
        doctor:--color) words="auto always never" ;;
        capture:--color) words="auto always never" ;;
        bench:--color) words="auto always never" ;;
        diff:--color) words="auto always never" ;;
        fit:-fa|fit:--flash-attn) words="on off auto" ;;
        fit:-lm|fit:--load-mode) words="auto none mmap mlock mmap+mlock dio" ;;
        fit:--color) words="auto always never" ;;
        model:--color) words="auto always never" ;;
        models:--color) words="auto always never" ;;
        check:--color) words="auto always never" ;;
        help:--completion) words="bash" ;;
        help:--list) words="commands documents probes" ;;
        help:--color) words="auto always never" ;;
        version:--color) words="auto always never" ;;
        *) case $command in
        show) words=" --machine --root --on --only --skip --timeout --wake --explain --json --color -h --help" ;;
        devices) words=" --family --vendor --min-memory --available --best --machine --root --on --only --skip --timeout --wake --explain --json --color -h --help" ;;
        doctor) words=" --machine --root --on --only --skip --timeout --wake --explain --json --color -h --help" ;;
        capture) words=" --keep-identities --machine --root --on --only --skip --timeout --wake --explain --json --color -h --help" ;;
        bench) words=" --threads --size --seconds --json --color -h --help" ;;
        diff) words=" --hardware --json --color -h --help" ;;
        fit) words=" --engine -c --ctx-size -ngl --gpu-layers --n-gpu-layers -ts --tensor-split -sm --split-mode -mg --main-gpu -ot --override-tensor -cmoe --cpu-moe -ncmoe --n-cpu-moe -b --batch-size -ub --ubatch-size -np --parallel -ctk --cache-type-k -ctv --cache-type-v -fa --flash-attn -kvu --kv-unified -no-kvu --no-kv-unified --swa-full -nkvo --no-kv-offload --no-op-offload --no-mmap -lm --load-mode -nr --no-repack -mla --mla-use --line --verify --markdown --html -mm --mmproj --no-mmproj-offload -md --model-draft --spec-draft-model --spec-type --spec-draft-n-max -ngld --gpu-layers-draft --n-gpu-layers-draft --spec-draft-ngl -devd --device-draft --spec-draft-device -ctkd --cache-type-k-draft --spec-draft-type-k -ctvd --cache-type-v-draft --spec-draft-type-v --lora --lora-scaled --control-vector --control-vector-scaled -cram --cache-ram --http-timeout -fitt --fit-target -fitc --fit-ctx --bandwidth --machine --root --on --only --skip --timeout --wake --explain --json --color -h --help" ;;
        model) words=" --tensors --metadata --http-timeout --json --color -h --help" ;;
        models) words=" --engine -c --ctx-size -np --parallel -ctk --cache-type-k -ctv --cache-type-v -a --all --machine --root --on --only --skip --timeout --wake --explain --json --color -h --help" ;;
        check) words=" --engine --json --color -h --help" ;;
        help) words=" --man --completion --schema --list --json --color -h --help" ;;
        version) words=" --json --color -h --help" ;;
        esac ;;
    esac
    ((COMP_CWORD == 1)) && words+=" show devices doctor capture bench diff fit model models check help version"
    [[ $command == help ]] && words+=" $(_plimsoll_commands)"
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
    [[ $cur == -* || ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$cur"))
}
_plimsoll_commands() {
    echo "show devices doctor capture bench diff fit model models check help version"
}
complete -o filenames -F _plimsoll plimsoll
