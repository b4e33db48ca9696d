//! What `explain` says about a dialect, made from the dialect itself.

use super::{Dialect, ErrorShape, LogprobStage, Prefill, PromptRoute};

impl Dialect {
    /// The ways to prompt ids in words, the best first. Our own rendering comes after them in every dialect.
    pub fn prompt_routes(&self) -> String {
        let word = |route: &PromptRoute| match route {
            PromptRoute::Render => "the render route",
            PromptRoute::Returned => "returned with the reply",
            PromptRoute::TokenizeMessages => "`/tokenize` with messages",
            PromptRoute::ApplyTemplate => "`/apply-template`, then `/tokenize`",
            PromptRoute::ChatTokenize => "`/chat_tokenize`",
            PromptRoute::DebugRender => "the server's rendering, tokenized by us",
        };
        let routes: Vec<&str> = self.prompt.iter().map(word).collect();
        if routes.is_empty() { "our own rendering".to_owned() } else { routes.join("; ") }
    }

    /// The whole text for `explain`.
    pub fn help(&self) -> String {
        let known = match &self.probe {
            Some(probe) => {
                let method = if probe.body.is_some() { "POST" } else { "GET" };
                format!("by the answer to {method} {}", probe.path)
            }
            None => "as what remains when no other is recognised".to_owned(),
        };
        let settings: Vec<&str> = self.settings.iter().map(|(ours, _)| *ours).collect();
        let prefill = match self.prefill {
            Prefill::Refused => "refused",
            Prefill::Flags => "`continue_final_message`",
            Prefill::LastMessageEchoed => "the last message is continued",
        };
        let stage = match self.logprobs {
            LogprobStage::Raw => "raw: before penalties, temperature and truncation",
            LogprobStage::AfterTemperature => {
                "after penalties and temperature; kept for greedy requests and temperature 1"
            }
            LogprobStage::AfterTruncation => "after truncation; kept for greedy requests",
            LogprobStage::Unknown => "not told; kept for greedy requests",
            LogprobStage::None => "none",
        };
        let shapes: Vec<&str> = self.errors.iter().map(ErrorShape::word).collect();
        format!(
            "`auto` knows it {known}.\n\
             settings sent      {}\n\
             prompt ids         {}\n\
             output ids         {}\n\
             settings in force  {}\n\
             log-probabilities  {stage}\n\
             prefill            {prefill}\n\
             finish reasons     {}\n\
             error bodies       {}",
            settings.join(", "),
            self.prompt_routes(),
            self.output_ids,
            self.settings_told,
            self.finishes.join(", "),
            shapes.join(", "),
        )
    }
}

impl ErrorShape {
    fn word(&self) -> &'static str {
        match self {
            ErrorShape::Wrapped => "{\"error\": {…}}",
            ErrorShape::Flat => "{\"object\": \"error\", …}",
            ErrorShape::Detail => "{\"detail\": …}",
            ErrorShape::Text => "{\"error\": \"…\"}",
        }
    }
}
