import { Bot, ChevronDown, Download as DownloadIcon, FlaskConical, Link as LinkIcon } from 'lucide-react'
import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import type { Step } from '@playhead/model'
import { useSessionSource, type Download } from '../../api/session-source.ts'
import { cachedStep } from '../../api/use-step.ts'
import { Button } from '../../ui/controls/button.tsx'
import { copyText } from '../../ui/browser/copy-text.ts'
import { saveText, saveUrl } from '../../ui/browser/save-file.ts'
import { Menu, MenuHeading, MenuItem, MenuLine } from '../../ui/controls/menu.tsx'
import { stepsBefore, writeAgentPrompt } from './agent-prompt.ts'
import { callOf } from '../conversation/model-calls.ts'
import { currentPlace } from '../playback/replay-location.ts'
import { useReplay } from '../playback/replay-context.ts'

const STATUS_SHOWN_MS = 2_000

/** Exports the session as a file, a link or a prompt for a coding agent. `onTest` offers it as a test. */
export function ExportMenu({ onTest }: { onTest?: (() => void) | undefined }) {
  const { player, location } = useReplay()
  const writePrompt = useWritePrompt()
  const [status, setStatus] = useState('')
  useEffect(() => {
    if (status === '') return
    const timer = setTimeout(() => setStatus(''), STATUS_SHOWN_MS)
    return () => clearTimeout(timer)
  }, [status])
  const copy = (what: string, text: Promise<string>) =>
    void text.then(copyText).then(() => setStatus(`${what} copied`))
  return (
    <>
      <span className="dim" role="status">
        {status}
      </span>
      <Menu
        label="Export"
        trigger={
          <Button>
            Export
            <ChevronDown size={14} aria-hidden="true" />
          </Button>
        }
      >
        <MenuItem
          icon={<LinkIcon size={14} aria-hidden="true" />}
          onSelect={() => copy('Link', Promise.resolve(location.linkTo(currentPlace(player))))}
        >
          Copy link to this point
        </MenuItem>
        <MenuItem icon={<Bot size={14} aria-hidden="true" />} onSelect={() => copy('Prompt', writePrompt())}>
          Copy as prompt for a coding agent
        </MenuItem>
        <SaveItems onTest={onTest} />
      </Menu>
    </>
  )
}

/** The files that the session can be saved as. A shared session has none. */
function SaveItems({ onTest }: { onTest: (() => void) | undefined }) {
  const downloads = useSessionSource().downloadsOf(useReplay().timeline.session)
  if (downloads.length === 0 && onTest === undefined) return null
  return (
    <>
      <MenuLine />
      <MenuHeading>Save as</MenuHeading>
      {onTest !== undefined && (
        <MenuItem
          icon={<FlaskConical size={14} aria-hidden="true" />}
          hint="with its cassette"
          onSelect={onTest}
        >
          Download as a test…
        </MenuItem>
      )}
      {downloads.map((download) => (
        <MenuItem
          key={download.id}
          icon={<DownloadIcon size={14} aria-hidden="true" />}
          hint={download.hint}
          onSelect={() => void save(download)}
        >
          {download.label}
        </MenuItem>
      ))}
    </>
  )
}

async function save(download: Download): Promise<void> {
  if ('href' in download) saveUrl(download.fileName, download.href)
  else saveText(download.fileName, await download.make(), 'application/json')
}

/** Writes a prompt about the selected step, with the conversation that led to it. */
function useWritePrompt(): () => Promise<string> {
  const { timeline, player, previews, llmCalls, location } = useReplay()
  const source = useSessionSource()
  const client = useQueryClient()
  return async () => {
    const { id } = timeline.session
    const read = async (step: Step) => {
      const known = cachedStep(client, source, id, step)
      return known.hasPayload
        ? known
        : source.readStep(id, step.id, new AbortController().signal).catch(() => known)
    }
    const position = timeline.positionOf.get(player.getState().stepId ?? '') ?? 0
    const outline = timeline.steps[position]
    if (outline === undefined) return `Session ${id} has no steps.`
    const call = callOf(timeline, llmCalls, position)
    const before = stepsBefore(timeline, position)
    const [step, asked] = await Promise.all([
      read(outline),
      call === undefined ? undefined : read(timeline.steps[call]!),
      previews.load(before),
    ])
    return writeAgentPrompt(timeline, step, {
      conversation: asked?.messages,
      before: before.map(previews.of),
      url: location.linkTo(currentPlace(player)),
    })
  }
}
