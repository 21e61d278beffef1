import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Link, useLocation } from '@tanstack/react-router'
import { CircleCheck } from 'lucide-react'
import { useState } from 'react'
import { visibleText } from '@playhead/model'
import { pairWith } from '../api/dev.ts'
import { Button } from '../ui/controls/button.tsx'
import { TextField } from '../ui/controls/fields.tsx'
import { usePageTitle } from '../ui/browser/use-page-title.ts'
import './pair-page.css'

/** Pairs this browser with the terminal that printed the link: `/pair#code`. */
export function PairPage() {
  const { hash } = useLocation()
  const client = useQueryClient()
  const [code, setCode] = useState(hash)
  const pairing = useMutation({
    mutationFn: pairWith,
    onSuccess: () => client.invalidateQueries({ queryKey: ['dev'] }),
  })
  usePageTitle('Pair with playhead dev')
  return (
    <div className="pair-page">
      <h1>Pair this browser with your terminal</h1>
      {pairing.data === undefined ? (
        <form
          onSubmit={(event) => {
            event.preventDefault()
            pairing.mutate(code.trim())
          }}
        >
          <p>
            <code>playhead dev</code> then runs what you start with <b>Run from here</b> on a step. Only
            agents of its configuration can be started. What they may write and spend is decided in the
            terminal, never here.
          </p>
          <TextField
            label="Code"
            autoComplete="off"
            spellCheck={false}
            // The page has nothing else to focus.
            autoFocus
            value={code}
            onChange={setCode}
            error={pairing.error?.message}
            hint="The code from the link that playhead dev printed. It works once."
          />
          <Button type="submit" look="accent" disabled={code.trim() === '' || pairing.isPending}>
            {pairing.isPending ? 'Pairing…' : 'Pair'}
          </Button>
        </form>
      ) : (
        <div role="status">
          <p className="pair-done">
            <CircleCheck size={16} aria-hidden="true" />
            Paired with {visibleText(pairing.data.host)}
          </p>
          <p>
            Agents: {pairing.data.agents.map(visibleText).join(', ') || 'none in its configuration yet'}. Open
            a session, select a step and press <kbd className="key-cap">R</kbd>.
          </p>
          <p>
            <Link to="/sessions">Go to sessions</Link>
          </p>
        </div>
      )}
    </div>
  )
}
