import { CodeBlock } from '../ui/data/code-block.tsx'

const EXAMPLE = `playhead.init({
  redact: [/\\b\\d{3}-\\d{2}-\\d{4}\\b/g],   // what matches is masked before it is sent
  capture: { content: false },           // or: structure only, no prompts and answers
})`

/** Where secrets are kept out: before they leave the agent. */
export function RedactionSection() {
  return (
    <>
      <p>
        Redaction happens in the SDK, before anything leaves your process, so that what must not be stored is
        never sent. Authorization headers are never recorded, and values that look like keys are masked by
        default.
      </p>
      <CodeBlock label="the code" text={EXAMPLE} />
      <p className="settings-said">
        The server stores what it is sent, as it is sent. What arrives through other OpenTelemetry SDKs is
        redacted by their own settings, or in a collector on the way. What should not have been sent can be
        deleted from the sessions list.
      </p>
    </>
  )
}
