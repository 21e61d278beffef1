import { TagChip } from '../session-facts/tag-chip.tsx'
import { Popover } from '../ui/controls/popover.tsx'

const SHOWN = 2

/** The first tags; the others behind a number. A click adds the tag to the filter. */
export function SessionTags({ tags, onTag }: { tags: readonly string[]; onTag: (tag: string) => void }) {
  const rest = tags.slice(SHOWN)
  return (
    <>
      {tags.slice(0, SHOWN).map((tag) => (
        <TagChip key={tag} title={`Filter by ${tag}`} tabIndex={-1} onClick={() => onTag(tag)}>
          {tag}
        </TagChip>
      ))}
      {rest.length > 0 && (
        <Popover
          label="More tags"
          trigger={
            <button type="button" className="tag-more" tabIndex={-1} aria-label={`${rest.length} more tags`}>
              +{rest.length}
            </button>
          }
        >
          <div className="tag-rest">
            {rest.map((tag) => (
              <TagChip key={tag} title={`Filter by ${tag}`} onClick={() => onTag(tag)}>
                {tag}
              </TagChip>
            ))}
          </div>
        </Popover>
      )}
    </>
  )
}
