//! What is run in each language: the same small sum, with a number of the round in it, so that no tool can answer
//! from a cache of whole programs.

/// One language.
#[derive(Debug)]
pub(super) struct Trial {
    pub(super) name: &'static str,
    /// `N` stands for the number.
    code: &'static str,
    /// The same for the plain tool, which prints no values.
    program: &'static str,
    prefix: &'static str,
}

const GO: &str = "package main\n\nimport \"fmt\"\n\nfunc main() {\n\tfmt.Println(1000 + N)\n}\n";

pub(super) const TRIALS: [Trial; 7] = [
    Trial { name: "python", code: "1000 + N", program: "print(1000 + N)", prefix: "" },
    Trial { name: "bash", code: "echo $((1000 + N))", program: "echo $((1000 + N))", prefix: "" },
    Trial { name: "javascript", code: "1000 + N", program: "console.log(1000 + N)", prefix: "" },
    Trial {
        name: "typescript",
        code: "const a: number = N; 1000 + a",
        program: "const a: number = N; console.log(1000 + a)",
        prefix: "",
    },
    Trial { name: "java", code: "1000 + N", program: "System.out.println(1000 + N)", prefix: "" },
    Trial { name: "go", code: GO, program: GO, prefix: "" },
    Trial { name: "r", code: "1000 + N", program: "1000 + N", prefix: "[1] " },
];

impl Trial {
    pub(super) fn code(&self, number: usize) -> String {
        self.code.replace('N', &number.to_string())
    }

    pub(super) fn program(&self, number: usize) -> String {
        self.program.replace('N', &number.to_string())
    }

    pub(super) fn expected(&self, number: usize) -> String {
        format!("{}{}", self.prefix, 1000 + number)
    }
}
