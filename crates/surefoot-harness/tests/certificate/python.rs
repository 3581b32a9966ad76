//! The second checker, `tools/check_certificate.py`. One process answers all questions of a test.

use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use proptest::test_runner::TestCaseError;
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

    /// Whether the second checker could say whether a certificate is a proof. It must be right, and scores that nearly tie are
    /// the only reason to say nothing.
    pub fn agrees(
        &mut self,
        certificate: &[u8],
        subject: &Subject<'_>,
        proves: bool,
    ) -> Result<bool, TestCaseError> {
        let answer = self.answer(certificate, subject);
        match answer.split_once(' ') {
            Some(("0", _)) if proves => Ok(true),
            Some(("1", _)) if !proves => Ok(true),
            Some(("2", text)) if text.starts_with("not checked: undecided: ") => Ok(false),
            _ => Err(TestCaseError::fail(format!("brute force: {proves}, second checker: {answer:?}"))),
        }
    }

    fn answer(&mut self, certificate: &[u8], subject: &Subject<'_>) -> String {
        writeln!(self.questions, "{}", dump(subject)).expect("Python reads");
        for byte in certificate {
            write!(self.questions, "{byte:02x}").expect("Python reads");
        }
        writeln!(self.questions).and_then(|()| self.questions.flush()).expect("Python reads");
        let mut answer = String::new();
        self.answers.read_line(&mut answer).expect("Python answers");
        answer
    }
}

impl Drop for Python {
    fn drop(&mut self) {
        // It waits for the next question.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
