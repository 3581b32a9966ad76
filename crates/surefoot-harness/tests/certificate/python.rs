//! The second checker, `tools/check_certificate.py`. One process answers all questions of a test.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use surefoot_certificate::{Subject, dump};

/// Reads two lines for each question, a task and a certificate in hexadecimal. Answers in one line: exit code and text.
const LOOP: &str = "
import json, sys
sys.path.insert(0, sys.argv[1])
from check_certificate import check
for line in sys.stdin:
    code, text = check(json.loads(line), bytes.fromhex(sys.stdin.readline()), 1_000_000)
    print(code, text.replace('\\n', ' '), flush=True)
";

/// Python, running.
pub struct Python {
    process: Child,
    questions: BufWriter<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Python {
    /// `None` if there is no Python.
    pub fn new() -> Option<Python> {
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tools");
        let mut command = Command::new("python3");
        command.args(["-B", "-X", "utf8", "-c", LOOP]).arg(tools);
        let Ok(mut process) = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
            eprintln!("there is no python3: the second checker is not tested");
            return None;
        };
        let questions = BufWriter::new(process.stdin.take().expect("it is piped"));
        let answers = BufReader::new(process.stdout.take().expect("it is piped"));
        Some(Python { process, questions, answers })
    }

    /// Whether the second checker accepts, and what it says; `None` if it cannot check this task.
    pub fn accepts(&mut self, certificate: &[u8], subject: &Subject<'_>) -> Option<(bool, String)> {
        writeln!(self.questions, "{}", dump(subject)).expect("Python reads");
        for byte in certificate {
            write!(self.questions, "{byte:02x}").expect("Python reads");
        }
        writeln!(self.questions).and_then(|()| self.questions.flush()).expect("Python reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Python answers");
        match answer.split_once(' ') {
            Some(("0", text)) => Some((true, text.into())),
            Some(("1", text)) => Some((false, text.into())),
            Some(("2", _)) => None,
            _ => panic!("the second checker failed: {answer:?}"),
        }
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It waits for the next question.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
