//! Templates in the style of several model families, with what transformers makes of them.

use serde_json::{Value, json};

use super::super::clock::Clock;
use super::super::template::render_source;

/// A template with its renderings of [`plain`] and of [`with_tools`].
const STYLES: [(&str, &str, &str, &str); 5] = [
    (
        "headers, a date and indented tools",
        r##"{{- bos_token }}
{%- if not day is defined %}
    {%- set day = strftime_now("%d %b %Y") %}
{%- endif %}
{%- set rest = messages[1:] if messages[0]['role'] == 'system' else messages %}
{{- "[system]\nDay: " + day }}
{%- if tools is not none %}
    {%- for tool in tools %}
        {{- "\n" ~ tool | tojson(indent=2) }}
    {%- endfor %}
{%- endif %}
{%- for m in rest %}
    {%- if 'tool_calls' in m %}
        {%- if m.tool_calls | length != 1 %}
            {{- raise_exception("one call at a time") }}
        {%- endif %}
        {%- set call = m.tool_calls[0].function %}
        {{- '[' + m.role + ']{"name": "' + call.name + '", "parameters": ' + call.arguments | tojson + '}' }}
    {%- elif m.content is mapping or m.content is iterable %}
        {{- '[' + m.role + ']' + (m.content | tojson if m.role == 'tool' else m.content | trim) }}
    {%- endif %}
{%- endfor %}
{{- '[assistant]' if add_generation_prompt }}
"##,
        "<s>[system]\nDay: 02 Jan 2026[user]Hi[assistant]<think>\nHm\n</think>\n\nHello[user]Bye[assistant]",
        "<s>[system]\nDay: 02 Jan 2026\n{\n  \"type\": \"function\",\n  \"function\": {\n    \"name\": \"get_weather\",\n    \"description\": \"Weather in a <city> & 'more'.\",\n    \"parameters\": {\n      \"type\": \"object\",\n      \"properties\": {\n        \"unit\": {\n          \"type\": \"string\",\n          \"enum\": [\n            \"c\",\n            \"f\"\n          ]\n        },\n        \"city\": {\n          \"type\": \"string\"\n        }\n      },\n      \"required\": [\n        \"city\"\n      ]\n    }\n  }\n}[user]Oslo? <b>é</b>[assistant]{\"name\": \"get_weather\", \"parameters\": {\"city\": \"Oslo é\", \"n\": 1.0}}[tool]\"{\\\"celsius\\\": 4}\"[assistant]",
    ),
    (
        "alternation, ids and results",
        r##"{%- set users = messages | selectattr("role", "equalto", "user") | list %}
{%- set ns = namespace(turn=0) %}
{%- for m in messages if m.role in ["user", "assistant"] and not m.tool_calls is defined %}
    {%- if (m["role"] == "user") != (ns.turn % 2 == 0) %}
        {{- raise_exception("roles must alternate") }}
    {%- endif %}
    {%- set ns.turn = ns.turn + 1 %}
{%- endfor %}
{{- bos_token }}
{%- for m in messages %}
    {%- if m.role == "user" %}
        {%- if tools and m == users[-1] %}
            {%- for key, value in tools[0].function.items() if key != "strict" %}
                {{- key }}: {{ value if value is string else value | tojson }}
                {{- ", " if not loop.last }}
            {%- endfor %}
        {%- endif %}
        {{- "{INST} " + m.content + " {/INST}" }}
    {%- elif m.tool_calls is defined %}
        {%- for call in m.tool_calls %}
            {%- set text = call.function | tojson %}
            {{- text[:-1] + ', "id": "' + call.id + '"}' }}
        {%- endfor %}
        {{- eos_token }}
    {%- elif m.role == "tool" %}
        {{- '{"content": ' + m.content | string + ', "call_id": ' ~ m.tool_call_id | tojson ~ '}' }}
    {%- elif m.role == "assistant" %}
        {{- m.content.split('</think>')[-1].lstrip('\n') + eos_token }}
    {%- endif %}
{%- endfor %}
"##,
        "<s>{INST}  Hi  {/INST}Hello</s>{INST} Bye\n {/INST}",
        "<s>name: get_weather, description: Weather in a <city> & 'more'., parameters: {\"type\": \"object\", \"properties\": {\"unit\": {\"type\": \"string\", \"enum\": [\"c\", \"f\"]}, \"city\": {\"type\": \"string\"}}, \"required\": [\"city\"]}{INST} Oslo? <b>é</b> {/INST}{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo é\", \"n\": 1.0}, \"id\": \"call_0\"}</s>{\"content\": {\"celsius\": 4}, \"call_id\": \"call_0\"}",
    ),
    (
        "one line, flags and escapes",
        r##"{% set ns = namespace(tool=false, system='') %}{% for m in messages %}{% if m['role'] == 'system' %}{% set ns.system = m['content'] %}{% endif %}{% endfor %}{{ bos_token }}{{ ns.system }}{%- for m in messages %}{%- if m['role'] == 'user' %}{{ '<｜User｜>' + m['content'] }}{%- endif %}{%- if m['role'] == 'assistant' and m.get('tool_calls') %}{%- for c in m['tool_calls'] %}{{ c['type'] + '<｜sep｜>' + c['function']['name'] + '\n' + c['function']['arguments'] | tojson(ensure_ascii=true) }}{%- endfor %}{%- elif m['role'] == 'assistant' and m['content'] is not none %}{{ m['content'] | replace('<think>', '(') }}{%- endif %}{%- if m['role'] == 'tool' %}{%- set ns.tool = true %}{{ '\n<｜output｜>' + m['content'] }}{%- endif %}{%- endfor -%}{% if add_generation_prompt and not ns.tool %}{{ '<｜Assistant｜>' }}{% endif %}"##,
        "<s><｜User｜> Hi (\nHm\n</think>\n\nHello<｜User｜>Bye\n<｜Assistant｜>",
        "<s> Be brief. <｜User｜>Oslo? <b>é</b>function<｜sep｜>get_weather\n{\"city\": \"Oslo \\u00e9\", \"n\": 1.0}\n<｜output｜>{\"celsius\": 4}",
    ),
    (
        "a macro, sorted parameters and repr",
        r##"{{ bos_token }}
{%- macro signature(parameters) -%}
    {%- for name, spec in parameters.properties | dictsort -%}
        {{- name }}:{{ spec.type | upper }}{% if spec['enum'] %}({{ spec['enum'] | join('|') }}){% endif %}{% if name in parameters.required %}!{% endif %}
        {%- if not loop.last %}, {% endif -%}
    {%- endfor -%}
{%- endmacro -%}
{%- for tool in tools or [] %}
<tool>{{ tool.function.name }}({{ signature(tool.function.parameters) }})</tool>
{%- endfor %}
{%- for m in messages -%}
    {%- set role = "model" if m['role'] == 'assistant' else m['role'] -%}
    {{ '<turn>' + role + '\n' }}
    {%- if m['content'] is string -%}
        {{ m['content'] | trim }}
    {%- else -%}
        {%- for call in m.tool_calls -%}
            {{ call.function.name }}{{ call.function.arguments | string }}
        {%- endfor -%}
    {%- endif -%}
    {{ '</turn>\n' }}
{%- endfor -%}
{%- if add_generation_prompt -%}
    {{ '<turn>model\n' }}
{%- endif -%}
"##,
        "<s><turn>user\nHi</turn>\n<turn>model\n<think>\nHm\n</think>\n\nHello</turn>\n<turn>user\nBye</turn>\n<turn>model\n",
        "<s><tool>get_weather(city:STRING!, unit:STRING(c|f))</tool><turn>system\nBe brief.</turn>\n<turn>user\nOslo? <b>é</b></turn>\n<turn>model\nget_weather{'city': 'Oslo é', 'n': 1.0}</turn>\n<turn>tool\n{\"celsius\": 4}</turn>\n<turn>model\n",
    ),
    (
        "reasoning kept inside a tool loop",
        r##"{%- set ns = namespace(last=-1) %}
{%- for m in messages[::-1] %}
    {%- if ns.last < 0 and m.role == "user" and not m.content.startswith('<result>') %}
        {%- set ns.last = messages | length - 1 - loop.index0 %}
    {%- endif %}
{%- endfor %}
{%- for m in messages %}
    {{- '<|im_start|>' + m.role + '\n' }}
    {%- generation %}
    {%- if m.reasoning_content is string and loop.index0 > ns.last %}
        {{- '<think>\n' + m.reasoning_content.strip('\n') + '\n</think>\n\n' }}
    {%- endif %}
    {{- m.content or '' }}
    {%- for call in m.tool_calls or [] %}
        {{- '<tool_call>\n' ~ call.function | tojson ~ '\n</tool_call>' }}
    {%- endfor %}
    {%- endgeneration %}
    {{- '<|im_end|>\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}
"##,
        "<|im_start|>user\n Hi <|im_end|>\n<|im_start|>assistant\n<think>\nHm\n</think>\n\nHello<|im_end|>\n<|im_start|>user\nBye\n<|im_end|>\n<|im_start|>assistant\n",
        "<|im_start|>system\n Be brief. <|im_end|>\n<|im_start|>user\nOslo? <b>é</b><|im_end|>\n<|im_start|>assistant\n<think>\nI need\na tool.\n</think>\n\n<tool_call>\n{\"name\": \"get_weather\", \"arguments\": {\"city\": \"Oslo é\", \"n\": 1.0}}\n</tool_call><|im_end|>\n<|im_start|>tool\n{\"celsius\": 4}<|im_end|>\n<|im_start|>assistant\n",
    ),
];

fn plain() -> Value {
    json!({"tools": null, "messages": [
        {"role": "user", "content": " Hi "},
        {"role": "assistant", "content": "<think>\nHm\n</think>\n\nHello"},
        {"role": "user", "content": "Bye\n"},
    ]})
}

fn with_tools() -> Value {
    let parameters = json!({"type": "object", "properties": {
        "unit": {"type": "string", "enum": ["c", "f"]}, "city": {"type": "string"},
    }, "required": ["city"]});
    let description = "Weather in a <city> & 'more'.";
    let function =
        json!({"name": "get_weather", "description": description, "parameters": parameters});
    let call = json!({"name": "get_weather", "arguments": {"city": "Oslo é", "n": 1.0}});
    json!({"tools": [{"type": "function", "function": function}], "messages": [
        {"role": "system", "content": " Be brief. "},
        {"role": "user", "content": "Oslo? <b>é</b>"},
        {"role": "assistant", "reasoning_content": "I need\na tool.",
         "tool_calls": [{"id": "call_0", "type": "function", "function": call}]},
        {"role": "tool", "content": "{\"celsius\": 4}", "tool_call_id": "call_0"},
    ]})
}

#[test]
fn family_styles_render_as_in_transformers() {
    let clock = Clock::parse(&json!("2026-01-02 03:04:05")).unwrap();
    for (style, source, expected_plain, expected_tools) in STYLES {
        for (mut variables, expected) in [(plain(), expected_plain), (with_tools(), expected_tools)]
        {
            variables["bos_token"] = json!("<s>");
            variables["eos_token"] = json!("</s>");
            variables["add_generation_prompt"] = json!(true);
            assert_eq!(render_source(source, &variables, clock).unwrap(), expected, "{style}");
        }
    }
}
