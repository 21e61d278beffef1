import { Dialog } from '../../ui/controls/dialog.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { KeyCap } from '../../ui/controls/button.tsx'
import './keyboard-help.css'

type Shortcut = readonly [keys: readonly string[], effect: string]

const RUN_FROM_HERE: Shortcut = [['R'], 'Edit the step and run the agent from here']
const VERDICT = 'Verdict'

const sections: readonly (readonly [title: string, shortcuts: readonly Shortcut[]])[] = [
  [
    'Playback',
    [
      [['Space'], 'Play or pause'],
      [['L'], 'Play; press again to go faster'],
      [['K'], 'Pause'],
      [['J'], 'Play backwards; press again to go faster'],
    ],
  ],
  [
    'Navigation',
    [
      [['←', '→'], 'Previous or next step'],
      [['Shift ←', 'Shift →'], 'One second back or forward'],
      [['E', 'Shift E'], 'Next or previous error'],
      [['W', 'Shift W'], 'Next or previous suspect'],
      [['Home', 'End'], 'Go to start or end'],
      [['↑', '↓'], 'Move up or down the list'],
    ],
  ],
  [
    VERDICT,
    [
      [['Y', 'N', 'U'], 'The session is right, wrong, or unsure'],
      [['Shift Y', 'Shift N'], 'The same for the selected step'],
      [['Enter'], 'Save the note, and go on in a review'],
      [['J', 'K'], 'In a review: next or previous session'],
    ],
  ],
  [
    'View',
    [
      [['/'], 'Search this session'],
      [['F'], 'Fold or unfold the step'],
      [['Esc'], 'Clear the search, or show the whole session'],
      RUN_FROM_HERE,
      [['?'], 'Show this help'],
    ],
  ],
  [
    'Timeline',
    [
      [['Drag'], 'Scrub; snaps to steps unless Alt is held'],
      [['Shift drag'], 'Select a range to zoom into and loop'],
      [['Wheel', 'Pinch'], 'Zoom; hold Shift to move sideways'],
      [['Double-click'], 'Show the whole session'],
    ],
  ],
]

export function KeyboardHelp({
  isOpen,
  onOpenChange,
}: {
  isOpen: boolean
  onOpenChange: (isOpen: boolean) => void
}) {
  // In a file, and behind a share link, there is nobody to tell a verdict.
  const canOnlyLook = useReplay().runFrom === undefined
  return (
    <Dialog title="Keyboard shortcuts" isOpen={isOpen} onOpenChange={onOpenChange}>
      <div className="help">
        {sections.map(([title, shortcuts]) =>
          canOnlyLook && title === VERDICT ? null : (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {shortcuts
                  .filter((shortcut) => !canOnlyLook || shortcut !== RUN_FROM_HERE)
                  .map(([keys, effect]) => (
                    <div key={effect}>
                      <dt>
                        {keys.map((key) => (
                          <KeyCap key={key}>{key}</KeyCap>
                        ))}
                      </dt>
                      <dd>{effect}</dd>
                    </div>
                  ))}
              </dl>
            </section>
          ),
        )}
      </div>
    </Dialog>
  )
}
