import type { IconName } from '../../../web/ui/icon.tsx';

const icon: IconName = 'policy';
export default icon;
