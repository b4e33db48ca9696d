//! Which format a template teaches, by what such templates hold.

use super::*;

/// A format, and the piece of a chat template that teaches it.
const TEMPLATES: [(&str, &str); 28] = [
    (
        "hermes",
        r#"For each function call, return a json object within <tool_call></tool_call> XML tags:\n<tool_call>\n{\"name\": <function-name>, \"arguments\": <args-json-object>}\n</tool_call><|im_end|>\n"#,
    ),
    (
        "hermes",
        r#"{%- if message.content %}{{- '<think>' }}{%- endif %}{{- '<tool_call>\n{"name": "' }}{{- tool_call.name }}{{- '", "arguments": ' }}"#,
    ),
    (
        "qwen3_coder",
        r#"{{- '\n<tool_call>\n<function=' + tool_call.name + '>\n' }}{{- '<parameter=' + args_name + '>\n' }}"#,
    ),
    (
        "llama3_json",
        r#"{{- 'Respond in the format {"name": function name, "parameters": dictionary of argument name and its value}.' }}"#,
    ),
    ("llama3_json", r#"{{- "<|python_tag|>" + tool_call.name + ".call(" }}"#),
    (
        "pythonic",
        r#"You SHOULD NOT include any other text in the response: [func_name1(params_name1=params_value1, params_name2=params_value2...), func_name2(params)]"#,
    ),
    (
        "pythonic",
        r#"{{- '<|python_start|>' }}{{- message['content'] | trim }}{{- '<|python_end|>' }}"#,
    ),
    (
        "lfm2",
        r#"{%- set ns.system_prompt = ns.system_prompt + "List of tools: <|tool_list_start|>[" -%}"#,
    ),
    (
        "olmo3",
        r#"{{ '<|im_start|>assistant\n' + '<function_calls>' + message['function_calls'] + '</function_calls>' }}"#,
    ),
    ("mistral", r#"{{- "[TOOL_CALLS][" }}{%- for tool_call in message.tool_calls %}"#),
    ("mistral", r#"{{- "[TOOL_CALLS]" + tool.function.name + "[ARGS]" + arguments }}"#),
    (
        "deepseek_v3",
        r#"{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>' + tool['type'] + '<｜tool▁sep｜>' + tool['function']['name'] + '\n' + '```json' + '\n'}}"#,
    ),
    (
        "deepseek_v31",
        r#"{{'<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>'+ tool['function']['name'] + '<｜tool▁sep｜>' + tool['function']['arguments'] + '<｜tool▁call▁end｜>'}}"#,
    ),
    (
        "deepseek_v32",
        r#"{%- set dsml_token = '｜DSML｜' %}{{- '<' ~ dsml_token ~ 'function_calls>' }}"#,
    ),
    (
        "kimi_k2",
        r#"<|tool_call_begin|>{{ formatted_id }}<|tool_call_argument_begin|>{{ tool_call['function']['arguments'] | tojson }}<|tool_call_end|>"#,
    ),
    (
        "glm",
        r#"<tool_call>{function-name}\n<arg_key>{arg-key-1}</arg_key>\n<arg_value>{arg-value-1}</arg_value>\n</tool_call>"#,
    ),
    ("hunyuan", r#"{{- '<tool_calls>\n<tool_call>' + name + '<tool_sep>\n<arg_key>' + key }}"#),
    (
        "minimax_m2",
        r#"{%- set toolcall_begin_token = '<minimax:tool_call>' -%}<invoke name="tool-name-1">"#,
    ),
    ("minimax_m3", r#"{%- set ns_token = ']<]minimax[>[' -%}{{ ns_token + '<tool_call>' }}"#),
    (
        "harmony",
        r#"{{- "<|start|>assistant to=functions." ~ tool_call.name ~ "<|channel|>commentary json<|message|>" }}"#,
    ),
    ("granite", r#"respond with <|tool_call|> followed by a JSON list of tools used."#),
    ("granite_20b", r#"{{- '<function_call> ' + message['content'] }}"#),
    ("internlm2", r#"{{ '<|action_start|><|plugin|>\n' + tool_call }}"#),
    (
        "phi4_mini",
        r#"{{ '<|' + message['role'] + '|>' + message['content'] + '<|tool|>' + message['tools'] + '<|/tool|>' + '<|end|>' }}"#,
    ),
    ("jamba", r#"{{- "<tool_calls>[" }}{%- for tool_call in message.tool_calls %}"#),
    ("functiongemma", r#"{{- '<start_function_call>call:' + function['name'] + '{' -}}"#),
    ("gemma4", r#"{{- '<|tool_call>call:' + function['name'] + '{' -}}"#),
    (
        "step3",
        r#"{{- '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="' + tool_call.name + '">' }}"#,
    ),
];

#[test]
fn a_template_names_its_format() {
    for (name, template) in TEMPLATES {
        assert_eq!(detect(template).map(|format| format.name), Some(name), "{template}");
    }
    for format in formats() {
        assert!(TEMPLATES.iter().any(|(name, _)| *name == format.name), "{}", format.name);
    }
}

#[test]
fn a_plain_template_names_none() {
    for template in [
        "",
        "{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>' + '\n' }}{% endfor %}",
        "{{ bos_token }}{% for message in messages %}[INST] {{ message['content'] }} [/INST]{% endfor %}",
        "{{ '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] + '<|eot_id|>' }}",
        "{{- '<|tool|>' + (tool['function'] | tojson) + '<|/tool|>' + '<|tool_call|>{}<|/tool_call|>' -}}",
        "{{ '<think>\n' }}{{ message.content.split('</think>')[-1] }}",
    ] {
        assert!(detect(template).is_none(), "{template}");
    }
}
