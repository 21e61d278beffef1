import { useQuery } from '@tanstack/react-query'
import { Download } from 'lucide-react'
import { useState } from 'react'
import {
  findOtherSession,
  shortSessionId,
  testRunners,
  writeTestFiles,
  type SessionSummary,
  type TestFiles,
  type TestRunner,
} from '@playhead/model'
import { useSessionSource, type SessionSource } from '../api/session-source.ts'
import { Button } from '../ui/controls/button.tsx'
import { Dialog } from '../ui/controls/dialog.tsx'
import { Segments } from '../ui/controls/segments.tsx'
import { CodeBlock } from '../ui/data/code-block.tsx'
import { ErrorNotice } from '../ui/data/error-notice.tsx'
import { SkeletonLines } from '../ui/data/skeleton.tsx'
import { saveText } from '../ui/browser/save-file.ts'
import packageJson from '../../package.json' with { type: 'json' }
import './test-download.css'

/** The session as a test and its cassette: the two files that `playhead to-test` writes. */
export function TestDownload({ session, onClose }: { session: SessionSummary; onClose: () => void }) {
  const [runner, setRunner] = useState<TestRunner>('vitest')
  const source = useSessionSource()
  const { data, error } = useQuery({
    queryKey: ['test-sessions', source.name, session.id],
    queryFn: ({ signal }) => readBoth(session.id, source, signal),
    staleTime: 30_000,
    structuralSharing: false,
  })
  const files =
    data &&
    writeTestFiles(data.whole, {
      runner,
      agent: session.name,
      other: data.other,
      version: packageJson.version,
      recordedAt: session.startedAt,
    })
  return (
    <Dialog
      title="Download as a test"
      description="The test runs your agent again and is answered from the cassette: no model, no network."
      isWide
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
    >
      <div className="test-download">
        <Segments
          label="Test runner"
          segments={testRunners.map((value) => ({ value, label: value }))}
          value={runner}
          onChange={setRunner}
        />
        {error !== null && <ErrorNotice error={error} />}
        {files === undefined ? (
          error === null && <SkeletonLines count={8} />
        ) : (
          <Files files={files} joined={describeJoined(data!)} />
        )}
        <p className="dim">
          In your project, <code>npx playhead to-test {shortSessionId(session.id)}</code> writes the same two
          files, and runs the test.
        </p>
      </div>
    </Dialog>
  )
}

function Files({ files: { test, cassette }, joined }: { files: TestFiles; joined: string }) {
  const save = ({ path, text }: TestFiles['test']) => saveText(path.split('/').at(-1)!, text)
  return (
    <>
      <p>{joined}</p>
      <CodeBlock text={test.text} label="test" />
      <dl className="test-paths">
        <dt>Test</dt>
        <dd>{test.path}</dd>
        <dt>Cassette</dt>
        <dd>{cassette.path}</dd>
      </dl>
      <footer className="dialog-foot">
        <Button onClick={() => save(cassette)}>
          <Download size={14} aria-hidden="true" />
          Cassette
        </Button>
        <Button look="accent" onClick={() => save(test)}>
          <Download size={14} aria-hidden="true" />
          Test
        </Button>
      </footer>
    </>
  )
}

type Both = Awaited<ReturnType<typeof readBoth>>

/** The session with its payloads, and for a failed one the session that shows what should have happened. */
async function readBoth(sessionId: string, source: SessionSource, signal: AbortSignal) {
  const read = (id: string) => source.readPayloads(id, signal)
  const whole = await read(sessionId)
  const { listSessions, readReruns } = source
  if (whole.session.endState !== 'fail' || listSessions === undefined || readReruns === undefined)
    return { whole, other: undefined }
  const { name } = whole.session
  const [passed, { reruns }] = await Promise.all([
    listSessions({ name, status: 'success', reruns: 'exclude' }, signal),
    readReruns(sessionId, signal),
  ])
  return { whole, other: await findOtherSession(whole, passed, reruns, read) }
}

function describeJoined({ whole, other }: Both): string {
  if (other !== undefined)
    return `What should happen is from ${shortSessionId(other.session.session.id)}, ${other.why === 'fork' ? 'the fork that passed' : 'which passed with the same input'}: red with the bug, green with the fix.`
  return whole.session.endState === 'fail'
    ? 'No session of this input has passed yet, so the test only says that nothing fails. Fork the session first to show what should happen.'
    : 'The test states what this session did.'
}
