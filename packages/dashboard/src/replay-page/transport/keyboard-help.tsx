import { Dialog } from '../../ui/controls/dialog.tsx'
import { KeyCap } from '../../ui/controls/button.tsx'
import './keyboard-help.css'

const sections: readonly (readonly [
  title: string,
  keys: readonly (readonly [keys: string[], what: string])[],
])[] = [
  [
    'Play',
    [
      [['space'], 'play or pause'],
      [['L'], 'play; again: faster'],
      [['K'], 'pause'],
      [['J'], 'play backwards; again: faster'],
    ],
  ],
  [
    'Move',
    [
      [['←', '→'], 'step back, forward'],
      [['shift ←', 'shift →'], 'one second back, forward'],
      [['E', 'shift E'], 'next, previous error'],
      [['Home', 'End'], 'to the start, the end'],
      [['↑', '↓'], 'up and down in the list'],
    ],
  ],
  [
    'Look',
    [
      [['/'], 'search in this session'],
      [['F'], 'fold or unfold the step'],
      [['Esc'], 'clear the search, show all of the timeline'],
      [['?'], 'this help'],
    ],
  ],
  [
    'On the timeline',
    [
      [['drag'], 'scrub; snaps to steps, Alt lets it go anywhere'],
      [['shift drag'], 'choose a part to look at and to loop in'],
      [['wheel', 'pinch'], 'zoom; shift wheel moves along'],
      [['double click'], 'show all again'],
    ],
  ],
]

/** Every key and gesture of the page. */
export function HelpDialog({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
}) {
  return (
    <Dialog title="Keys and gestures" isOpen={isOpen} onOpenChange={onOpenChange}>
      <div className="help">
        {sections.map(([title, keys]) => (
          <section key={title}>
            <h3>{title}</h3>
            <dl>
              {keys.map(([caps, what]) => (
                <div key={what}>
                  <dt>
                    {caps.map((cap) => (
                      <KeyCap key={cap}>{cap}</KeyCap>
                    ))}
                  </dt>
                  <dd>{what}</dd>
                </div>
              ))}
            </dl>
          </section>
        ))}
      </div>
    </Dialog>
  )
}
