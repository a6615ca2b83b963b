import { Dialog } from '../../ui/dialog.tsx';

const KEYS = [
  ['J', 'Next approval'],
  ['K', 'Previous approval'],
  ['A', 'Approve or sign the open approval, or review all selected'],
  ['R', 'Reject the open approval, or all selected, with a reason'],
  ['E', 'Edit arguments'],
  ['M', 'Approve, and remember the decision for next time'],
  ['U', 'Undo your last decision, or say why it cannot be undone'],
  ['X', 'Select the open approval'],
  ['Shift X', 'Select up to the open approval'],
  ['F', 'Filter'],
  ['/', 'Search'],
  ['N', 'Show new approvals'],
  ['Ctrl K', 'Search or jump to anything'],
  ['Ctrl Enter', 'Confirm a dialog; the only key that approves in one'],
  ['Esc', 'One level back: dialog, filter, selection'],
  ['?', 'Show shortcuts'],
] as const;

export const HelpDialog = ({ onClose }: { onClose(): void }) => (
  <Dialog title="Keyboard shortcuts" onClose={onClose}>
    <dl className="keys">
      {KEYS.map(([keys, what]) => (
        <div key={keys}>
          <dt>
            {keys.split(' ').map((key) => (
              <kbd key={key}>{key}</kbd>
            ))}
          </dt>
          <dd>{what}</dd>
        </div>
      ))}
    </dl>
  </Dialog>
);
