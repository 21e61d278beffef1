import { Filter, Search, X } from 'lucide-react'
import { memo, useMemo } from 'react'
import { countOf, formatCount, stepKinds, type Step, type StepKind } from '@playhead/model'
import { Button, IconButton, KeyCap } from '../../ui/controls/button.tsx'
import { Menu, MenuItem, MenuLine } from '../../ui/controls/menu.tsx'
import { KindMark, kindLooks } from '../../session-facts/kind-mark.tsx'
import { useReplay } from '../playback/replay-context.ts'
import { PAYLOADS_SEARCHED_UP_TO, type StepListState } from './step-list-state.ts'

export const SEARCH_FIELD_ID = 'step-search'

/** Search and kind filter above the list, with the number of steps they hide. */
export const StepListBar = memo(function StepListBar({ list }: { list: StepListState }) {
  return (
    <div className="step-list-bar">
      <SearchField text={list.text} setText={list.setText} />
      <KindMenu list={list} />
      {list.matches !== null && <FilterNote list={list} />}
    </div>
  )
})

function SearchField({ text, setText }: Pick<StepListState, 'text' | 'setText'>) {
  return (
    <div className="step-search">
      <Search size={14} aria-hidden="true" />
      <input
        id={SEARCH_FIELD_ID}
        type="text"
        placeholder="Search this session"
        aria-label="Search this session"
        spellCheck={false}
        autoComplete="off"
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Escape') return
          event.stopPropagation()
          if (text === '') event.currentTarget.blur()
          else setText('')
        }}
      />
      {text === '' ? (
        <span aria-hidden="true">
          <KeyCap>/</KeyCap>
        </span>
      ) : (
        <IconButton label="Clear search" onClick={() => setText('')}>
          <X size={14} aria-hidden="true" />
        </IconButton>
      )}
    </div>
  )
}

function KindMenu({ list }: { list: StepListState }) {
  const { kinds } = list
  return (
    <Menu
      label="Step kinds"
      trigger={
        <Button look="quiet" className="step-kinds">
          <Filter size={13} aria-hidden="true" />
          {kinds.size === 0 ? 'All kinds' : countOf(kinds.size, 'kind')}
        </Button>
      }
    >
      <KindItems list={list} />
    </Menu>
  )
}

/** Steps are counted when the menu opens. */
function KindItems({ list }: { list: StepListState }) {
  const { timeline } = useReplay()
  const { kinds, setKinds } = list
  const counts = useMemo(() => countKinds(timeline.steps), [timeline.steps])
  const toggle = (kind: StepKind) => {
    const next = new Set(kinds)
    if (!next.delete(kind)) next.add(kind)
    setKinds(next)
  }
  return (
    <>
      {stepKinds
        .filter((kind) => counts.has(kind))
        .map((kind) => (
          <MenuItem
            key={kind}
            icon={<KindMark kind={kind} />}
            isChecked={kinds.has(kind)}
            hint={formatCount(counts.get(kind)!)}
            onSelect={() => toggle(kind)}
          >
            {kindLooks[kind].word}
          </MenuItem>
        ))}
      <MenuLine />
      <MenuItem isChecked={kinds.size === 0} onSelect={() => setKinds(new Set())}>
        All kinds
      </MenuItem>
    </>
  )
}

function countKinds(steps: readonly Step[]): Map<StepKind, number> {
  const counts = new Map<StepKind, number>()
  for (const { kind } of steps) counts.set(kind, (counts.get(kind) ?? 0) + 1)
  return counts
}

function FilterNote({ list }: { list: StepListState }) {
  const { matches, hiddenCount, coverage, text, kinds } = list
  const isSearch = text.trim() !== ''
  return (
    <p className="step-list-note" role="status">
      {countOf(matches!.matchCount, 'step')} found, {formatCount(hiddenCount)} hidden
      {isSearch && coverage === 'loading' && ' · searching inputs and outputs…'}
      {isSearch && coverage === 'loading previews' && ' · searching previews…'}
      {isSearch &&
        coverage === 'names' &&
        ` · names and previews only: inputs and outputs are searched in sessions of up to ${formatCount(PAYLOADS_SEARCHED_UP_TO)} steps`}
      {(isSearch || kinds.size > 0) && (
        <button
          type="button"
          className="long-text-more"
          onClick={() => {
            list.setText('')
            list.setKinds(new Set())
          }}
        >
          Show all
        </button>
      )}
    </p>
  )
}
